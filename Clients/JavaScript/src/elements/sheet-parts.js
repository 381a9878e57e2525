// The parts of a share sheet. Each makes nodes of the share as it is, and asks `sheet` to change it.

import {button, drawn, make} from './dom.js';
import {choicesOf, nameOf, sentParticipant, stateOf} from './people.js';
import {qrCode} from './qr-code.js';
import {filledLabel} from './texts.js';

/** A share that is open to nobody, and has nobody. */
export const isOpen = share => (share?.publicPermission ?? 'NONE') !== 'NONE';

export const participantsOf = share => share?.participants ?? [];

export const section = (title, ...content) =>
  make('section', {}, make('h3', {}, title), ...content);

/** A native list of permissions. */
export function permissionSelect(texts, offered, present, properties) {
  const labels = {
    READ_ONLY: texts.sheetView, READ_WRITE: texts.sheetEdit, NONE: texts.sheetNoAccess,
  };
  const select = make('select', properties, choicesOf(offered, present).map(
    value => make('option', {value}, labels[value])));
  if (present) select.value = present;
  return select;
}

/** Who has access: those who are invited, or everybody with the link. */
export function accessPart(sheet) {
  const {share, texts, options: {access, permissions}} = sheet;
  const present = isOpen(share) ? 'PUBLIC' : 'PRIVATE';
  const choices = ['PRIVATE', 'PUBLIC'].filter(each => each === present || access.includes(each));
  const labels = {PRIVATE: texts.sheetInvited, PUBLIC: texts.sheetAnyone};
  const radios = choices.map(value => {
    const input = make('input', {
      type: 'radio', name: 'access', value, id: `access-${value}`, checked: value === present,
      'data-key': `access-${value}`, onchange: () => choose(value),
    });
    return make('div', {className: 'check'}, input,
      make('label', {for: input.id}, labels[value]));
  });
  const choose = value => {
    const set = () => sheet.change(() => ({
      publicPermission: value === 'PRIVATE' ? 'NONE' : permissions[0] ?? 'READ_ONLY',
    }));
    const losing = participantsOf(share).some(({type, acceptanceStatus}) =>
      type === 'PUBLIC_USER' && acceptanceStatus !== 'REMOVED');
    if (value !== 'PRIVATE' || !losing) return set();
    return sheet.confirm({
      title: texts.sheetClose, hint: texts.sheetCloseHint, action: texts.sheetCloseDo,
    }, set, () => sheet.render());
  };
  const what = present === 'PRIVATE' ? null : [
    make('label', {for: 'public'}, texts.sheetAnyoneMay),
    permissionSelect(texts, permissions, share.publicPermission, {
      id: 'public', 'data-key': 'public',
      onchange: ({target}) => sheet.change(() => ({publicPermission: target.value})),
    }),
  ];
  return make('section', {}, make('fieldset', {},
    make('legend', {}, texts.sheetAccess), radios), what, mayAskPart(sheet));
}

function mayAskPart(sheet) {
  const {share, texts} = sheet;
  if (!share || isOpen(share)) return null;
  return switchOf(texts.sheetMayAsk, Boolean(share.allowsAccessRequests), 'may-ask',
    isOn => sheet.change(() => ({allowsAccessRequests: isOn})));
}

export function switchOf(label, isOn, key, onChange, name) {
  const id = `switch-${key}`;
  return make('div', {className: 'check'}, make('input', {
    type: 'checkbox', role: 'switch', id, checked: isOn, 'data-key': id, 'aria-label': name,
    onchange: ({target}) => onChange(target.checked),
  }), make('label', {for: id}, label));
}

/** Everybody who takes part or is invited. */
export function peoplePart(sheet) {
  const {share, texts} = sheet;
  const people = participantsOf(share);
  if (people.length === 0) return null;
  const rows = people.map((person, index) => personRow(
    sheet, person, people[index + 1] ?? people[index - 1]));
  return section(texts.sheetPeople, make('ul', {}, rows));
}

function personRow(sheet, person, next) {
  const {share, texts, options, isManager} = sheet;
  const {participantId: id, type, permission} = person;
  const name = nameOf(person, texts);
  const isMe = id === share.currentUserParticipant?.participantId;
  const state = [stateOf(person, texts), isMe ? texts.sheetYou : null].filter(Boolean).join(' · ');
  const head = make('div', {}, make('bdi', {className: 'name'}, name),
    make('span', {className: 'quiet'}, state));
  if (!isManager || type === 'OWNER' || isMe) return make('li', {}, head);
  const put = (changes, said) => sheet.change(({participants}) => ({
    participants: participants.map(each => each.participantId === id
      ? {...sentParticipant(each), ...changes} : sentParticipant(each)),
  }), {said});
  const remove = () => sheet.change(({participants}) => ({
    participants: participants.filter(each => each.participantId !== id).map(sentParticipant),
  }), {said: texts.sheetRemoved, values: {name}, focus: next && `remove-${next.participantId}`});
  const isOfLink = type === 'PUBLIC_USER';
  return make('li', {},
    make('div', {className: 'row'}, head,
      isOfLink ? null : permissionSelect(texts, options.permissions, permission, {
        'data-key': `permission-${id}`, 'aria-label': filledLabel(texts.sheetPermissionOf, {name}),
        onchange: ({target}) => put({permission: target.value}),
      }),
      button('✕', remove, {
        'data-key': `remove-${id}`, 'aria-label': filledLabel(texts.sheetRemove, {name}),
      })),
    isOfLink || !options.mayInvite ? null : switchOf(
      texts.sheetMayInvite, type === 'ADMINISTRATOR', `inviting-${id}`,
      isOn => put({type: isOn ? 'ADMINISTRATOR' : 'USER'}),
      filledLabel(texts.sheetMayInviteOf, {name})),
    person.oneTimeURL ? [
      make('p', {className: 'quiet'}, texts.sheetOneTimeHint),
      linkPart(sheet, person.oneTimeURL, `once-${id}`)] : null);
}

/** Who asks to take part, and who may not ask. */
export function requestsPart(sheet) {
  const {share, texts} = sheet;
  const people = identities => (identities ?? [])
    .map(userIdentity => ({userIdentity, id: userIdentity?.userRecordName})).filter(({id}) => id);
  const row = (person, actions) => {
    const name = nameOf(person, texts);
    return make('li', {}, make('div', {className: 'row'},
      make('bdi', {className: 'name'}, name),
      actions.map(([text, verb]) => button(filledLabel(texts[text], {name}),
        () => sheet.change(() => ({[verb]: [person.id]})),
        {'data-key': `${verb}-${person.id}`}))));
  };
  const requesters = share?.requesters?.map(({userIdentity}) => userIdentity);
  const asking = people(requesters).map(person => row(person,
    [['sheetLet', 'approve'], ['sheetDecline', 'deny'], ['sheetBlock', 'block']]));
  const blocked = people(share?.blockedIdentities).map(
    person => row(person, [['sheetUnblock', 'unblock']]));
  return [
    asking.length > 0 ? section(texts.sheetRequests, make('ul', {}, asking)) : null,
    blocked.length > 0 ? section(texts.sheetBlocked, make('ul', {}, blocked)) : null,
  ];
}

/** A link as text, to copy, and as a picture for somebody's phone. */
export function linkPart(sheet, address, key) {
  const {texts} = sheet;
  const copy = navigator.clipboard ? button(texts.copyCodes, async () => {
    await navigator.clipboard.writeText(address).then(
      () => sheet.say(texts.copied), () => sheet.complain(texts.failure));
  }, {'data-key': `copy-${key}`}) : null;
  const rows = qrCode(address);
  const picture = rows && make('details', {
    open: sheet.opened.has(key),
    ontoggle: ({target}) => sheet.opened[target.open ? 'add' : 'delete'](key),
  }, make('summary', {'data-key': `qr-${key}`}, texts.qrCode), drawnCode(rows, texts.qrCode));
  return make('div', {}, make('code', {}, address), copy, picture);
}

function drawnCode(rows, label) {
  const side = rows.length + 8;
  const path = rows.flatMap((row, down) => row.map(
    (isDark, right) => isDark ? `M${right + 4} ${down + 4}h1v1h-1z` : '')).join('');
  return drawn('svg', {
    viewBox: `0 0 ${side} ${side}`, role: 'img', 'aria-label': label,
    'shape-rendering': 'crispEdges',
  }, drawn('rect', {width: side, height: side, fill: '#fff'}), drawn('path', {d: path}));
}
