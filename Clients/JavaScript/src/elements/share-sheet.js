// <share-sheet>: who takes part in what is shared, and how. It gets its data from a source, so that
// it serves apps, the server's pages and its console alike.

import {ElementBase, button, make} from './dom.js';
import {lookupInfoOf, nameOf, pictureOf, sentParticipant} from './people.js';
import {
  accessPart, isOpen, linkPart, participantsOf, peoplePart, permissionSelect, requestsPart, section,
  switchOf,
} from './sheet-parts.js';
import {dress} from './style.js';
import {englishTexts, filled} from './texts.js';

const usualOptions = {
  access: ['PRIVATE', 'PUBLIC'], permissions: ['READ_ONLY', 'READ_WRITE'], mayInvite: true,
  hasDone: false, hasTitle: true,
};

export class ShareSheet extends ElementBase {
  /** What is open of the parts that open. */
  opened = new Set();
  #source = null;
  #share;
  #texts = englishTexts;
  #options = usualOptions;
  #work = Promise.resolve();
  #status;
  #alert;
  #form;
  #content;

  constructor() {
    super();
    dress(this.attachShadow({mode: 'open'}));
  }

  connectedCallback() {
    if (!this.#content) this.#build();
    if (this.#source) this.reload();
  }

  /** Where the share comes from; setting it reads the share. */
  get source() { return this.#source; }
  set source(source) {
    this.#source = source;
    this.#share = undefined;
    if (this.isConnected) this.reload();
  }

  get texts() { return this.#texts; }
  set texts(texts) {
    this.#texts = {...englishTexts, ...texts};
    this.#form = null;
    if (this.#content) this.render();
  }

  /**
   * What is offered: `access`, `permissions`, `mayInvite`, `hasDone`, a button to close, and
   * `hasTitle`, name and picture of what is shared.
   */
  get options() { return this.#options; }
  set options(options) {
    this.#options = {...usualOptions, ...options};
    this.#form = null;
    if (this.#content) this.render();
  }

  /** The share as last read or saved: null where there is none, undefined until it is read. */
  get share() { return this.#share; }

  /** Whether who looks may change how it is shared. */
  get isManager() {
    const {type} = this.#share?.currentUserParticipant ?? {};
    return !type || type === 'OWNER' || type === 'ADMINISTRATOR';
  }

  /** Reads the share anew. Resolves once it is shown, or once it is said why not. */
  reload() {
    return this.#queue(() => this.#source.read());
  }

  /**
   * Saves what `changesOf` makes of the share; of the newer one, if somebody else has changed it.
   *
   * Then says `said`, and puts the focus on the control of the key `focus`, if its own is gone.
   */
  change(changesOf, {said = this.#texts.saved, values, focus} = {}) {
    const source = this.#source;
    return this.#queue(async () => {
      try {
        return await source.save(this.#share, changesOf(this.#share));
      } catch (error) {
        if (codeOf(error) !== 'CONFLICT') throw error;
        const share = await source.read();
        return source.save(share, changesOf(share));
      }
    }, {said, values, focus, isChange: true});
  }

  say(text, values) {
    this.#alert.replaceChildren();
    this.#status.replaceChildren(...filled(text, values));
  }

  complain(text) {
    this.#status.replaceChildren();
    this.#alert.replaceChildren(text);
  }

  /** Asks before something is done that loses somebody's access. */
  confirm({title, hint, action}, onYes, onNo = () => {}) {
    let isSure = false;
    const heading = make('h2', {id: 'sure'}, title);
    const text = make('p', {id: 'sure-hint'}, hint);
    const close = yes => { isSure = yes; dialog.close(); };
    const no = button(this.#texts.cancel, () => close(false), {'data-key': 'no'});
    const dialog = make('dialog', {
      role: 'alertdialog', 'aria-labelledby': heading.id, 'aria-describedby': text.id,
      onclose: () => {
        dialog.remove();
        if (isSure) onYes();
        else onNo();
      },
    }, heading, text, make('div', {className: 'row'}, no,
      button(action, () => close(true), {className: 'danger', 'data-key': 'yes'})));
    this.shadowRoot.append(dialog);
    dialog.showModal();
    no.focus();
  }

  /** Shows the share as it is. The focus stays on its control, or goes to the one of a key. */
  render(key) {
    if (!this.#content) return;
    const present = this.shadowRoot.activeElement?.dataset.key;
    const isFocused = this.shadowRoot.activeElement !== null;
    this.#content.replaceChildren(...this.#parts().flat(Infinity).filter(Boolean));
    if (!isFocused) return;
    const find = wanted => wanted &&
      this.shadowRoot.querySelector(`[data-key="${CSS.escape(wanted)}"]`);
    (find(present) ?? find(key) ?? this.#content.querySelector('h2'))?.focus();
  }

  #build() {
    this.#status = make('p', {role: 'status'});
    this.#alert = make('p', {role: 'alert'});
    this.#content = make('div');
    this.shadowRoot.append(this.#alert, this.#status, this.#content);
    this.render();
  }

  /** Does one thing after another; what it resolves with is the share. */
  #queue(work, {said, values, focus, isChange = false} = {}) {
    const source = this.#source;
    const done = async () => {
      if (source !== this.#source) return;
      this.#content.setAttribute('aria-busy', 'true');
      try {
        const share = await work();
        if (source !== this.#source) return;
        this.#share = share;
        this.render(focus);
        if (said) this.say(said, values);
        if (isChange) this.#tell('share-change', {share});
      } catch (error) {
        await this.#failed(source, error);
      } finally {
        this.#content.removeAttribute('aria-busy');
      }
    };
    this.#work = this.#work.then(done);
    return this.#work;
  }

  /** Says why something failed, and shows what is there. */
  async #failed(source, error) {
    const {sheetDenied, sheetGone, sheetOffline, failure} = this.#texts;
    const known = {
      ACCESS_DENIED: sheetDenied, NOT_FOUND: sheetGone, ZONE_NOT_FOUND: sheetGone,
      NETWORK_ERROR: sheetOffline, SERVICE_UNAVAILABLE: sheetOffline,
    };
    const share = await source.read().catch(() => this.#share);
    if (source !== this.#source) return;
    this.#share = share;
    this.render();
    this.complain(known[codeOf(error)] ?? failure);
    this.#tell('share-error', {error});
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail, bubbles: true, composed: true}));
  }

  #parts() {
    const texts = this.#texts;
    const done = this.#options.hasDone ? make('section', {}, button(
      texts.sheetDone, () => this.#tell('share-done', {share: this.#share ?? null}),
      {className: 'act', 'data-key': 'done'})) : null;
    const {hasTitle} = this.#options;
    const title = hasTitle && (this.#share?.fields?.['cloudkit.title']?.value ?? this.#source?.title);
    const picture = hasTitle && pictureOf(this.#share);
    const head = [
      picture ? make('img', {
        className: 'picture', src: picture, alt: '', onerror: ({target}) => target.remove(),
      }) : null,
      make('h2', {tabIndex: -1}, title ? make('bdi', {}, String(title)) : texts.sheetTitle),
    ];
    if (this.#share === undefined) return [head, done];
    return [head, this.isManager ? this.#managed() : this.#seen(), done];
  }

  /** What a participant sees. */
  #seen() {
    const {owner, currentUserParticipant: me} = this.#share;
    const texts = this.#texts;
    const link = this.#source.link?.(this.#share);
    return [
      owner ? make('p', {}, filled(texts.sheetSharedBy, {name: nameOf(owner, texts)})) : null,
      make('p', {}, me.permission === 'READ_WRITE' ? texts.sheetYouEdit : texts.sheetYouView),
      peoplePart(this),
      isOpen(this.#share) && link ? section(texts.handOn, linkPart(this, link, 'link')) : null,
      make('section', {}, button(texts.sheetLeave, () => this.confirm({
        title: texts.sheetLeaveTitle, hint: texts.sheetLeaveHint, action: texts.sheetLeave,
      }, () => this.#end()), {'data-key': 'leave'})),
    ];
  }

  #managed() {
    const texts = this.#texts;
    const share = this.#share;
    const link = share && this.#source.link?.(share);
    this.#form ??= this.#inviteForm();
    const isOwner = (share?.currentUserParticipant?.type ?? 'OWNER') === 'OWNER';
    return [
      share ? null : make('p', {className: 'quiet'}, texts.sheetPrivate),
      requestsPart(this), accessPart(this), this.#form, peoplePart(this),
      link ? section(texts.handOn, linkPart(this, link, 'link')) : null,
      share && isOwner ? make('section', {}, button(texts.sheetStop, () => this.confirm({
        title: texts.sheetStopTitle, hint: texts.sheetStopHint, action: texts.sheetStop,
      }, () => this.#end()), {'data-key': 'stop'})) : null,
    ];
  }

  /** Stays as it is while the rest is made anew, so that nothing typed is lost. */
  #inviteForm() {
    const texts = this.#texts;
    const {permissions, mayInvite} = this.#options;
    const problem = make('p', {role: 'alert', id: 'problem'});
    const input = make('input', {
      type: 'text', id: 'address', autocomplete: 'email', inputMode: 'email', 'data-key': 'address',
    });
    const permission = permissionSelect(texts, permissions, permissions[0], {
      id: 'permission', 'data-key': 'permission', 'aria-label': texts.sheetPermission,
    });
    const inviting = mayInvite
      ? switchOf(texts.sheetMayInvite, false, 'inviting', () => {}) : null;
    const added = userIdentity => ({
      type: inviting?.querySelector('input').checked ? 'ADMINISTRATOR' : 'USER',
      permission: permission.value, ...userIdentity,
    });
    const add = (entry, said, values) => this.change(share => ({
      participants: [...participantsOf(share).map(sentParticipant), entry],
    }), {said, values});
    const complain = text => {
      problem.replaceChildren(text);
      input.toggleAttribute('aria-invalid', false);
      if (!text) return;
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', problem.id);
      input.focus();
    };
    const submit = event => {
      event.preventDefault();
      const lookupInfo = lookupInfoOf(input.value);
      complain(lookupInfo ? '' : texts.addressOrPhoneRefused);
      if (!lookupInfo) return;
      const name = input.value.trim();
      add(added({userIdentity: {lookupInfo}}), texts.sheetInvitedOne, {name});
      input.value = '';
    };
    return section(texts.sheetInvite, make('form', {noValidate: true, onsubmit: submit},
      make('label', {for: 'address'}, texts.addressOrPhone), input, problem, inviting,
      make('div', {className: 'row'}, permission,
        make('button', {className: 'act', 'data-key': 'invite'}, texts.sheetInviteDo),
        button(texts.sheetOneTimeMake, () => add(added({oneTimeLink: true}), texts.saved),
          {'data-key': 'once'}))));
  }

  #end() {
    const source = this.#source;
    const isManager = this.isManager;
    return this.#queue(async () => {
      await source.end(this.#share);
      return isManager ? source.read() : undefined;
    }, {said: isManager ? this.#texts.sheetStopped : this.#texts.sheetGone, isChange: true});
  }
}

function codeOf(error) {
  return error?.ckErrorCode ?? error?.serverErrorCode ?? error?.code;
}
