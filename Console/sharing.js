// Sharing: what somebody shares and has joined, who takes part, and links. A private database is always somebody's, so
// the operator acts on behalf of one person, by the rules that hold for them.

import {Asking, actAs, button, change, confirm, define, empty, facts, field, html, many, may, nothing, problem, run, say, search,
  serverURL, short, submitted, table, time, to, waiting} from './screen.js';
import './share-sheet.js';

const ACCESS = {NONE: 'only who is invited', READ_ONLY: 'everybody with the link may view', READ_WRITE: 'everybody with the link may edit'};
const STATUS = {ACCEPTED: 'has joined', PENDING: 'invited', INVITED: 'invited', REMOVED: 'has left'};
const ROLE = {OWNER: 'owner', ADMINISTRATOR: 'may invite others', PUBLIC_USER: 'by the link', USER: 'invited by name'};
const PERMISSION = {READ_ONLY: 'may view', READ_WRITE: 'may edit', NONE: 'no access'};
/// The sheet speaks to the person; here it speaks of them.
const TEXTS = {sheetYou: 'the person themselves', sheetYouEdit: 'They can view and edit it.', sheetYouView: 'They can view it.',
  sheetLeaveHint: 'They lose access to it on all their devices.', sheetDenied: 'They may not change this.'};
const SHARE = 'cloudkit.share';

const titleOf = ({share, rootRecordName, zoneID}) => share.fields?.['cloudkit.title']?.value ?? rootRecordName ?? zoneID.zoneName;
const keyOf = ({databaseScope, zoneID, rootRecordName}) =>
  JSON.stringify([databaseScope, zoneID.zoneName, zoneID.ownerRecordName, rootRecordName ?? null]);
const nameOf = ({userIdentity = {}, oneTimeURL}) => {
  const {nameComponents: {givenName, familyName} = {}, lookupInfo: {emailAddress, phoneNumber} = {}} = userIdentity;
  return [givenName, familyName].filter(Boolean).join(' ') || emailAddress || phoneNumber || (oneTimeURL ? 'a one-time link' : 'somebody');
};

/// What an item's error says, as the sheet understands it.
function checked({records}) {
  const wrong = records.find(({serverErrorCode}) => serverErrorCode);
  if (wrong) throw Object.assign(new Error(wrong.reason), {ckErrorCode: wrong.serverErrorCode});
}

/// A share as the share sheet reads and changes it, by commands on behalf of its user.
function source({container, environment, user}, entry, told) {
  const {databaseScope, zoneID: {zoneName, ownerRecordName}, rootRecordName: root} = entry;
  const at = {container, environment, user, zone: zoneName,
    ...databaseScope === 'SHARED' ? {database: 'shared', owner: ownerRecordName} : {database: 'private'}};
  // Addresses come without the server's own.
  const whole = share => ({...share, participants: (share.participants ?? []).map(each => each.oneTimeURL?.startsWith('/')
    ? {...each, oneTimeURL: serverURL + each.oneTimeURL} : each)});
  const read = async () => {
    const {shares} = await run('share list', {container, environment, email: user});
    told(shares);
    const found = shares.find(each => keyOf(each) === keyOf(entry));
    return found ? whole(found.share) : null;
  };
  return {
    title: titleOf(entry), read,

    async save(share, changes) {
      const {recordName, recordChangeTag, publicPermission, allowsAccessRequests} = share;
      const file = JSON.stringify({recordType: SHARE, recordName, recordChangeTag, publicPermission, allowsAccessRequests, ...changes});
      checked(await run('record save', {...at, file}));
      return read();
    },

    async end({recordName}) {
      checked(await run('record delete', {...at, name: [recordName], yes: true}));
      await read().catch(() => {});
    },

    link: ({shortGUID}) => shortGUID && serverURL ? `${serverURL}/share/${encodeURIComponent(shortGUID)}` : undefined,
  };
}

class SharingScreen extends Asking {
  /// Stays when the server has forgotten on whose behalf one looks: the link, and whose it is.
  typed = {user: '', link: ''};

  asks() { return [...super.asks(), this.values.user]; }

  willUpdate() {
    super.willUpdate();
    const {open} = this.values;
    if (this.opened === open) return;
    this.opened = open;
    this.#prepare();
  }

  /// The sheet reads anew whenever it gets a source, so it gets each once; a template would set it each time.
  updated() {
    const sheet = this.querySelector('share-sheet');
    if (!sheet || sheet.source === this.source) return;
    sheet.texts = TEXTS;
    sheet.source = this.source;
  }

  async load() {
    const {container, environment, user} = this.values;
    this.state = {};
    if (!container || !user) return;
    await this.ask(async signal => {
      const {shares} = await run('share list', {container, environment, email: user}, {signal});
      this.state = {shares};
      this.#prepare();
    });
  }

  /// The share that the address names.
  #prepare() {
    const {still, values: {open}} = this;
    this.entry = this.state.shares?.find(each => keyOf(each) === open);
    this.source = this.entry ? source(this.values, this.entry, shares => still() && this.set({shares})) : null;
  }

  async #actAs(email) {
    const {container, environment} = this.values;
    await this.attempt(async still => {
      await actAs({email, container, environment});
      if (still()) change({open: ''});
    });
  }

  render() {
    const {container, user, open} = this.values;
    if (!container) return html`<h1>Sharing</h1>${empty('Choose a container.')}`;
    if (!may('share list')) return html`<h1>Sharing</h1>${problem({code: 'FORBIDDEN', message: ''})}`;
    return html`<h1>Sharing</h1>
      ${search(html`<label>On behalf of <input name="user" class="short" required .value=${user ?? this.typed.user} autocomplete="off" spellcheck="false"
          placeholder="name@example.org"></label>`, ({user}) => this.#actAs(user), 'Look')}
      ${!user ? html`${problem(this.state.failure ?? this.state.acceptFailure)}${empty('Name a person to see what they share and have joined.')}`
        : this.#content(open)}`;
  }

  #content(open) {
    const {failure, shares} = this.state;
    if (failure) return problem(failure, () => this.load());
    if (!shares) return waiting('Looking for shares…');
    if (open) return this.#share();
    const own = shares.filter(({databaseScope}) => databaseScope === 'PRIVATE');
    const joined = shares.filter(({databaseScope}) => databaseScope === 'SHARED');
    return html`<section aria-labelledby="own"><h2 id="own">Shared by them</h2>${own.length === 0
        ? empty('They share nothing.') : this.#table(own)}</section>
      <section aria-labelledby="joined"><h2 id="joined">Joined by them</h2>${joined.length === 0
        ? empty('They have joined nothing.') : this.#table(joined)}${may('share accept') ? this.#accepting() : nothing}</section>`;
  }

  #table(entries) {
    return table('Shares', ['What', 'Zone', 'Access', 'People', 'Requests'], entries.map(entry => html`<tr>
        <th scope="row"><a href=${to('sharing', {...this.values, open: keyOf(entry)})}><bdi>${titleOf(entry)}</bdi></a></th>
        <td><bdi>${entry.zoneID.zoneName}</bdi>${entry.rootRecordName ? nothing : ', all of it'}</td>
        <td>${ACCESS[entry.share.publicPermission ?? 'NONE']}</td>
        <td>${many((entry.share.participants ?? []).filter(({acceptanceStatus}) => acceptanceStatus !== 'REMOVED').length, 'person')}</td>
        <td>${entry.share.requesters?.length ? html`<b>${entry.share.requesters.length} waiting</b>` : '–'}</td></tr>`));
  }

  #accepting() {
    const {acceptFailure, isAccepting} = this.state;
    return html`<form class="adding" aria-label="Join by link" 
      @input=${({target}) => { this.typed = {user: this.values.user, link: target.value}; }} @submit=${submitted(({link}) => this.#accept(link))}>
      ${field({label: 'Link to a share', name: 'link', required: true, value: this.typed.link})}
      <button class="second" ?disabled=${isAccepting}>Join…</button></form>${problem(acceptFailure)}`;
  }

  async #accept(link) {
    const {container, environment, user} = this.values;
    const meant = await confirm({title: 'Join the share?', act: 'Join', danger: false, text: html`<p><b><bdi>${user}</bdi></b> takes
      part from then on, on all their devices. A one-time link works for them, and for nobody else any more.</p>`});
    if (!meant) return;
    this.set({isAccepting: true});
    await this.attempt(async still => {
      await run('share accept', {container, environment, email: user, link});
      say('They take part.');
      if (!still()) return;
      this.typed.link = '';
      await this.load();
    }, 'acceptFailure');
    this.set({isAccepting: false});
  }

  #share() {
    const back = html`<p><a href=${to('sharing', {...this.values, open: ''})}>← All shares</a></p>`;
    const current = this.state.shares.find(each => keyOf(each) === this.values.open);
    if (!current || !this.source) return html`${back}${empty('This is not shared, or not any more.')}`;
    const {entry} = this;
    if (may('record save')) {
      return html`${back}<div class="card sheet"><share-sheet></share-sheet></div>${this.#whereabouts(entry)}`;
    }
    const {share} = current;
    const link = this.source.link(share);
    return html`${back}<h2><bdi>${titleOf(current)}</bdi></h2>
      ${facts([['Access', ACCESS[share.publicPermission ?? 'NONE']], ['Changed', time(share.modified?.timestamp)],
        link && ['Link', html`<code>${link}</code>`]])}
      ${table('Participants', ['Who', 'As', 'State', 'May'], (share.participants ?? []).map(each => html`<tr>
        <th scope="row"><bdi>${nameOf(each)}</bdi></th><td>${ROLE[each.type] ?? each.type}</td>
        <td>${STATUS[each.acceptanceStatus] ?? each.acceptanceStatus}</td><td>${PERMISSION[each.permission] ?? each.permission}</td>
        </tr>`))}${this.#whereabouts(entry)}`;
  }

  /// Where it is among the records.
  #whereabouts({databaseScope, zoneID: {zoneName}, rootRecordName}) {
    const {container, environment, user} = this.values;
    if (databaseScope !== 'PRIVATE') return nothing;
    return html`<p><a href=${to('data', {container, environment, database: 'private', zone: zoneName,
      record: rootRecordName})}>Its records</a></p>`;
  }
}
define('sharing-screen', SharingScreen, ['values', 'state']);
