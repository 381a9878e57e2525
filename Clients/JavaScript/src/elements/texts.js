// What the elements say, in English. A server has the same texts in the languages of its pages.

export const englishTexts = Object.freeze({
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

/** A text with others put in, each apart from its direction of writing: nodes for an element. */
export function filled(text, values = {}) {
  return text.split(/(\{\w+\})/).filter(Boolean).map(piece => {
    const value = values[piece.slice(1, -1)];
    if (!/^\{\w+\}$/.test(piece) || value === undefined) return piece;
    const isolated = document.createElement('bdi');
    isolated.textContent = value;
    return isolated;
  });
}

/** The same as plain text, for labels: isolated by the marks that Unicode has for that. */
export function filledLabel(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) =>
    values[name] === undefined ? all : `\u2068${values[name]}\u2069`);
}
