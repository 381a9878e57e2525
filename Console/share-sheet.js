// The JavaScript client of Lenticular 0.1.0, Apache-2.0.
// Made from the modules in src/ by build.mjs.

// elements/dom.js
const ElementBase = globalThis.HTMLElement ?? class {};

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name.includes('-') || ['role', 'for', 'autocomplete'].includes(name)) {
      element.setAttribute(name, value);
    } else element[name] = value;
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

const button = (text, onclick, properties = {}) =>
  make('button', {type: 'button', onclick, ...properties}, text);

function drawn(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// elements/people.js
function nameOf({userIdentity, oneTimeURL}, texts) {
  const {nameComponents, lookupInfo} = userIdentity ?? {};
  const {givenName, familyName} = nameComponents ?? {};
  const name = [givenName, familyName].filter(Boolean).join(' ').trim();
  return name || lookupInfo?.emailAddress || lookupInfo?.phoneNumber ||
    (oneTimeURL ? texts.sheetOneTime : texts.sheetUnnamed);
}

function stateOf({type, acceptanceStatus}, texts) {
  if (type === 'OWNER') return texts.sheetOwner;
  if (acceptanceStatus === 'REMOVED') return texts.sheetLeft;
  if (type === 'PUBLIC_USER') return texts.sheetByLink;
  return acceptanceStatus === 'ACCEPTED' ? texts.sheetJoined : texts.sheetPending;
}

function sentParticipant({participantId, type, permission, userIdentity}) {
  const {userRecordName, lookupInfo} = userIdentity ?? {};
  return {participantId, type, permission, userIdentity: {userRecordName, lookupInfo}};
}

function lookupInfoOf(text) {
  const address = text.trim();
  if (/^[^\s@]+@[^\s@]+$/.test(address)) return {emailAddress: address};
  const digits = address.replace(/[\s().\/-]/g, '');
  return /^\+\d{5,15}$/.test(digits) ? {phoneNumber: digits} : null;
}

function choicesOf(offered, present) {
  return ['READ_ONLY', 'READ_WRITE', 'NONE'].filter(
    each => each === present || each !== 'NONE' && offered.includes(each));
}

function pictureOf(share) {
  const value = share?.fields?.['cloudkit.thumbnailImageData']?.value;
  const kinds = {iVBORw0KGgo: 'png', '/9j/': 'jpeg', UklGR: 'webp'};
  const kind = typeof value === 'string' && Object.keys(kinds).find(each => value.startsWith(each));
  return kind ? `data:image/${kinds[kind]};base64,${value}` : undefined;
}

// elements/qr-code.js
const versions = [
  [10, [16], []], [16, [28], [6, 18]], [26, [44], [6, 22]], [18, [32, 32], [6, 26]],
  [24, [43, 43], [6, 30]], [16, [27, 27, 27, 27], [6, 34]], [18, [31, 31, 31, 31], [6, 22, 38]],
  [22, [38, 38, 39, 39], [6, 24, 42]], [22, [36, 36, 36, 37, 37], [6, 26, 46]],
  [26, [43, 43, 43, 43, 44], [6, 28, 50]],
].map(([correction, blocks, alignments], index) => ({
  number: index + 1, size: 21 + 4 * index, correction, blocks, alignments,
  bytes: blocks.reduce((sum, count) => sum + count), lengthBits: index < 9 ? 8 : 16,
}));

function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = versions.find(each => 4 + each.lengthBits + 8 * bytes.length <= 8 * each.bytes);
  if (!version) return null;
  const words = codewords(bytes, version);
  const codes = Array.from({length: 8}, (_, mask) => {
    const square = new Square(version);
    square.place(words, mask);
    square.placeFormat(mask);
    return {rows: square.rows, penalty: penaltyOf(square.rows)};
  });
  return codes.reduce((best, next) => next.penalty < best.penalty ? next : best).rows;
}

function codewords(text, {bytes: capacity, lengthBits, blocks, correction}) {
  const bits = [];
  const put = (value, count) => {
    for (let shift = count - 1; shift >= 0; shift--) bits.push(value >> shift & 1);
  };
  put(4, 4);
  put(text.length, lengthBits);
  text.forEach(byte => put(byte, 8));
  put(0, Math.min(4, 8 * capacity - bits.length));
  while (bits.length % 8) bits.push(0);
  const data = [];
  for (let at = 0; at < bits.length; at += 8) {
    data.push(bits.slice(at, at + 8).reduce((byte, bit) => byte << 1 | bit));
  }
  for (let filler = 0xec; data.length < capacity; filler ^= 0xec ^ 0x11) data.push(filler);
  const parts = blocks.map(count => data.splice(0, count));
  const interleaved = all => Array.from({length: Math.max(...all.map(({length}) => length))},
    (_, index) => all.filter(part => index < part.length).map(part => part[index])).flat();
  return [...interleaved(parts), ...interleaved(parts.map(part => corrected(part, correction)))];
}

const powers = [1];
while (powers.length < 255) {
  const next = powers.at(-1) << 1;
  powers.push(next > 255 ? next ^ 0x11d : next);
}
const product = (left, right) => left && right
  && powers[(powers.indexOf(left) + powers.indexOf(right)) % 255];

function corrected(data, count) {
  let divisor = [1];
  for (let power = 0; power < count; power++) {
    const next = [...divisor, 0];
    divisor.forEach((factor, index) => { next[index + 1] ^= product(factor, powers[power]); });
    divisor = next;
  }
  const rest = [...data, ...new Array(count).fill(0)];
  data.forEach((_, index) => {
    const factor = rest[index];
    divisor.forEach((other, offset) => { rest[index + offset] ^= product(other, factor); });
  });
  return rest.slice(-count);
}

const masks = [
  (row, column) => (row + column) % 2, row => row % 2, (_, column) => column % 3,
  (row, column) => (row + column) % 3, (row, column) => ((row >> 1) + Math.floor(column / 3)) % 2,
  (row, column) => row * column % 2 + row * column % 3,
  (row, column) => (row * column % 2 + row * column % 3) % 2,
  (row, column) => ((row + column) % 2 + row * column % 3) % 2,
];

class Square {
  constructor(version) {
    this.size = version.size;
    this.rows = Array.from({length: this.size}, () => new Array(this.size).fill(false));
    this.fixed = Array.from({length: this.size}, () => new Array(this.size).fill(false));
    this.#placeFinders();
    for (let offset = 8; offset < this.size - 8; offset++) {
      this.#set(6, offset, offset % 2 === 0);
      this.#set(offset, 6, offset % 2 === 0);
    }
    this.#placeAlignments(version.alignments);
    this.placeFormat(0);
    this.#placeVersion(version.number);
  }

  #set(row, column, isDark) {
    if (!(row in this.rows) || !(column in this.rows)) return;
    this.rows[row][column] = isDark;
    this.fixed[row][column] = true;
  }

  #placeFinders() {
    for (const [top, left] of [[0, 0], [0, this.size - 7], [this.size - 7, 0]]) {
      for (let row = -1; row < 8; row++) {
        for (let column = -1; column < 8; column++) {
          const distance = Math.max(Math.abs(row - 3), Math.abs(column - 3));
          this.#set(top + row, left + column, distance !== 2 && distance !== 4);
        }
      }
    }
  }

  #placeAlignments(centres) {
    const last = centres.at(-1);
    for (const row of centres) {
      for (const column of centres) {
        const corners = [[6, 6], [6, last], [last, 6]];
        if (corners.some(([down, right]) => row === down && column === right)) continue;
        for (let down = -2; down < 3; down++) {
          for (let right = -2; right < 3; right++) {
            this.#set(row + down, column + right, Math.max(Math.abs(down), Math.abs(right)) !== 1);
          }
        }
      }
    }
  }

  #placeVersion(number) {
    if (number < 7) return;
    const bits = withRest(number, 0x1f25, 12);
    for (let index = 0; index < 18; index++) {
      const isDark = Boolean(bits >> index & 1);
      this.#set(this.size - 11 + index % 3, Math.floor(index / 3), isDark);
      this.#set(Math.floor(index / 3), this.size - 11 + index % 3, isDark);
    }
  }

  placeFormat(mask) {
    const bits = withRest(mask, 0x537, 10) ^ 0x5412;
    for (let index = 0; index < 15; index++) {
      const isDark = Boolean(bits >> index & 1);
      this.#set(index < 6 ? index : index < 8 ? index + 1 : this.size - 15 + index, 8, isDark);
      this.#set(8, index < 8 ? this.size - 1 - index : index < 9 ? 7 : 14 - index, isDark);
    }
    this.#set(this.size - 8, 8, true);
  }

  place(words, mask) {
    let index = 0;
    let isUpward = true;
    for (let right = this.size - 1; right > 0; right -= 2, isUpward = !isUpward) {
      if (right === 6) right--;
      for (let step = 0; step < this.size; step++) {
        const row = isUpward ? this.size - 1 - step : step;
        for (const column of [right, right - 1]) {
          if (this.fixed[row][column]) continue;
          const bit = words[index >> 3] >> 7 - index % 8 & 1;
          this.rows[row][column] = Boolean(bit) !== (masks[mask](row, column) === 0);
          index++;
        }
      }
    }
  }
}

function withRest(number, divisor, bits) {
  let rest = number << bits;
  for (let top = 31; top >= bits; top--) {
    if (rest >> top & 1) rest ^= divisor << top - bits;
  }
  return number << bits | rest;
}

function penaltyOf(rows) {
  const columns = rows.map((_, index) => rows.map(row => row[index]));
  const lines = [...rows, ...columns].map(line => line.map(Number).join(''));
  let sum = 0;
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2;
    sum += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let row = 1; row < rows.length; row++) {
    for (let column = 1; column < rows.length; column++) {
      const first = rows[row][column];
      if (rows[row - 1][column] === first && rows[row][column - 1] === first &&
        rows[row - 1][column - 1] === first) sum += 3;
    }
  }
  const dark = rows.flat().filter(Boolean).length;
  return sum + Math.floor(Math.abs(20 * dark / rows.length ** 2 - 10)) * 10;
}

// elements/texts.js
const englishTexts = Object.freeze({
  addressOrPhone: 'E-mail address or phone number',
  addressOrPhoneRefused:
    'Enter a valid e-mail address, or a phone number with its country code.',
  cancel: 'Cancel',
  copied: 'Copied.',
  copyCodes: 'Copy',
  failure: 'Something went wrong. Please try again.',
  handOn: 'Link and QR code',
  qrCode: 'QR code of the link',
  saved: 'Saved.',
  signIn: 'Sign in',
  signOut: 'Sign out',
  sheetAccess: 'Who has access',
  sheetAnyone: 'Anyone with the link',
  sheetAnyoneMay: 'People with the link',
  sheetBlock: 'Block {name}',
  sheetBlocked: 'Blocked people',
  sheetByLink: 'Joined by the link',
  sheetClose: 'Make it private?',
  sheetCloseDo: 'Make private',
  sheetCloseHint: 'People who joined by the link lose access.',
  sheetDecline: 'Decline {name}',
  sheetDenied: 'You may not change this.',
  sheetDone: 'Done',
  sheetEdit: 'Can edit',
  sheetFailed: 'This item cannot be shared right now.',
  sheetGone: 'This item is not available any more.',
  sheetInvite: 'Invite people',
  sheetInvited: 'Only people you invite',
  sheetInvitedOne: 'You have invited {name}. Send them the link.',
  sheetInviteDo: 'Invite',
  sheetJoined: 'Has joined',
  sheetLeave: 'Leave',
  sheetLeaveHint: 'You lose access to it on all your devices.',
  sheetLeaveTitle: 'Leave this shared item?',
  sheetLeft: 'Has left',
  sheetLet: 'Let {name} in',
  sheetMayAsk: 'People without access can request it',
  sheetMayInvite: 'Can invite others',
  sheetMayInviteOf: 'Can invite others: {name}',
  sheetNoAccess: 'No access',
  sheetOffline: 'The server cannot be reached. Check your connection, and try again.',
  sheetOneTime: 'One-time link',
  sheetOneTimeHint: 'It works for the first person who uses it.',
  sheetOneTimeMake: 'Create one-time link',
  sheetOwner: 'Owner',
  sheetPeople: 'People',
  sheetPending: 'Invited',
  sheetPermission: 'Access',
  sheetPermissionOf: 'Access of {name}',
  sheetPrivate: 'Nobody else has access.',
  sheetRemove: 'Remove {name}',
  sheetRemoved: '{name} has been removed.',
  sheetRequests: 'Requests for access',
  sheetSharedBy: 'Shared by {name}',
  sheetStop: 'Stop sharing',
  sheetStopHint: 'Everybody else loses access.',
  sheetStopTitle: 'Stop sharing this item?',
  sheetStopped: 'This item is not shared any more.',
  sheetTitle: 'Share',
  sheetUnblock: 'Unblock {name}',
  sheetUnnamed: 'Unnamed person',
  sheetView: 'Can view',
  sheetYou: 'You',
  sheetYouEdit: 'You can view and edit it.',
  sheetYouView: 'You can view it.',
});

function filled(text, values = {}) {
  return text.split(/(\{\w+\})/).filter(Boolean).map(piece => {
    const value = values[piece.slice(1, -1)];
    if (!/^\{\w+\}$/.test(piece) || value === undefined) return piece;
    const isolated = document.createElement('bdi');
    isolated.textContent = value;
    return isolated;
  });
}

function filledLabel(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) =>
    values[name] === undefined ? all : `\u2068${values[name]}\u2069`);
}

// elements/sheet-parts.js
const isOpen = share => (share?.publicPermission ?? 'NONE') !== 'NONE';

const participantsOf = share => share?.participants ?? [];

const section = (title, ...content) =>
  make('section', {}, make('h3', {}, title), ...content);

function permissionSelect(texts, offered, present, properties) {
  const labels = {
    READ_ONLY: texts.sheetView, READ_WRITE: texts.sheetEdit, NONE: texts.sheetNoAccess,
  };
  const select = make('select', properties, choicesOf(offered, present).map(
    value => make('option', {value}, labels[value])));
  if (present) select.value = present;
  return select;
}

function accessPart(sheet) {
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

function switchOf(label, isOn, key, onChange, name) {
  const id = `switch-${key}`;
  return make('div', {className: 'check'}, make('input', {
    type: 'checkbox', role: 'switch', id, checked: isOn, 'data-key': id, 'aria-label': name,
    onchange: ({target}) => onChange(target.checked),
  }), make('label', {for: id}, label));
}

function peoplePart(sheet) {
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

function requestsPart(sheet) {
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

function linkPart(sheet, address, key) {
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

// elements/style.js
const text = `
:host{display:block;color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif;
--text:var(--share-text,light-dark(#1c2733,#dde5ec));--back:var(--share-back,light-dark(#fff,#1d252d));
--line:var(--share-line,light-dark(#7d8894,#74808c));--act:var(--share-act,light-dark(#0a5c8f,#1f6f9f));
--link:var(--share-link,light-dark(#0a5c8f,#7cc4f0));--bad:var(--share-bad,light-dark(#a3211b,#ff9d94));
--risk:light-dark(#a3211b,#b3322b);--quiet:light-dark(#4a5763,#a9b6c1);
color:var(--text);background:var(--back)}
:host([hidden]){display:none}*{box-sizing:border-box}
h2{font-size:1.25rem;line-height:1.3;margin:0 0 .5rem;overflow-wrap:anywhere}
h3{font-size:1rem;margin:0 0 .25rem}h2:focus{outline:none}
section{margin-block-start:1.5rem}p{margin:.5rem 0;overflow-wrap:anywhere}.quiet{color:var(--quiet)}
fieldset{border:0;margin:0;padding:0;min-width:0}legend{font-weight:700;padding:0;margin:0}
label{display:block;margin:.5rem 0 .25rem}
.check{display:flex;gap:.6rem;align-items:center;min-height:2rem;margin:.25rem 0}
.check input{width:1.25rem;height:1.25rem;margin:0;flex:none;accent-color:var(--act)}
input[type=text],select{font:inherit;color:inherit;background:var(--back);width:100%;min-height:2.75rem;
padding:.4rem .7rem;border:1px solid var(--line);border-radius:.4rem}select{width:auto;max-width:100%}
button{font:inherit;min-height:2.75rem;padding:.5rem 1rem;border-radius:.4rem;cursor:pointer;
border:1px solid var(--line);background:transparent;color:var(--link);max-width:100%;overflow-wrap:anywhere}
button.act{background:var(--act);border-color:var(--act);color:#fff}
button.danger{background:var(--risk);border-color:var(--risk);color:#fff}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}.row>:first-child{flex:1 1 7rem;min-width:0}
form .row{margin-block-start:.5rem}form .row>:first-child{flex:none}
ul{list-style:none;margin:.25rem 0 0;padding:0}li{padding:.6rem 0;border-block-start:1px solid var(--line)}
li .name{font-weight:600;overflow-wrap:anywhere}li .quiet{display:block}
[role=alert]:not(:empty){color:var(--bad);font-weight:600;border-inline-start:.25rem solid var(--bad);
padding-inline-start:.75rem}[role=status]:empty,[role=alert]:empty{display:none}
[role=status]:not(:empty){border-inline-start:.25rem solid var(--act);padding-inline-start:.75rem}
[aria-invalid=true]{border:2px solid var(--bad)!important}
code{display:block;overflow-wrap:anywhere;user-select:all;font-size:.9rem;margin:.5rem 0}
summary{cursor:pointer;padding:.5rem 0;min-height:2rem}
svg{display:block;width:13rem;max-width:100%;height:auto;margin:.5rem 0}
.picture{display:block;max-height:8rem;max-width:100%;border-radius:.5rem;margin:0 0 .5rem}
dialog{color:var(--text);background:var(--back);border:1px solid var(--line);border-radius:.75rem;
max-width:min(24rem,calc(100vw - 1rem));padding:1.25rem}dialog::backdrop{background:rgb(0 0 0/.5)}
dialog .row>:first-child{flex:none}
@media(forced-colors:active){button{border:1px solid ButtonText}}
`;

let sheet;

function dress(root) {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
  }
  root.adoptedStyleSheets = [sheet];
}

// elements/share-sheet.js
const usualOptions = {
  access: ['PRIVATE', 'PUBLIC'], permissions: ['READ_ONLY', 'READ_WRITE'], mayInvite: true,
  hasDone: false, hasTitle: true,
};

class ShareSheet extends ElementBase {
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

  get options() { return this.#options; }
  set options(options) {
    this.#options = {...usualOptions, ...options};
    this.#form = null;
    if (this.#content) this.render();
  }

  get share() { return this.#share; }

  get isManager() {
    const {type} = this.#share?.currentUserParticipant ?? {};
    return !type || type === 'OWNER' || type === 'ADMINISTRATOR';
  }

  reload() {
    return this.#queue(() => this.#source.read());
  }

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

// elements/console.js
customElements.define('share-sheet', ShareSheet);
