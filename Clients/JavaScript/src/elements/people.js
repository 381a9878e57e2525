// The people of a share: how they are called, and what is sent of them.

/** Somebody's name, else the address by which they were invited. */
export function nameOf({userIdentity, oneTimeURL}, texts) {
  const {nameComponents, lookupInfo} = userIdentity ?? {};
  const {givenName, familyName} = nameComponents ?? {};
  const name = [givenName, familyName].filter(Boolean).join(' ').trim();
  return name || lookupInfo?.emailAddress || lookupInfo?.phoneNumber ||
    (oneTimeURL ? texts.sheetOneTime : texts.sheetUnnamed);
}

/** How somebody takes part. */
export function stateOf({type, acceptanceStatus}, texts) {
  if (type === 'OWNER') return texts.sheetOwner;
  if (acceptanceStatus === 'REMOVED') return texts.sheetLeft;
  if (type === 'PUBLIC_USER') return texts.sheetByLink;
  return acceptanceStatus === 'ACCEPTED' ? texts.sheetJoined : texts.sheetPending;
}

/** An entry of the list as it is sent: what the server knows them by, and what may change. */
export function sentParticipant({participantId, type, permission, userIdentity}) {
  const {userRecordName, lookupInfo} = userIdentity ?? {};
  return {participantId, type, permission, userIdentity: {userRecordName, lookupInfo}};
}

/** What an address is to the server; null for what is none. */
export function lookupInfoOf(text) {
  const address = text.trim();
  if (/^[^\s@]+@[^\s@]+$/.test(address)) return {emailAddress: address};
  const digits = address.replace(/[\s().\/-]/g, '');
  return /^\+\d{5,15}$/.test(digits) ? {phoneNumber: digits} : null;
}

/** The permissions among which somebody may choose, with the present one. */
export function choicesOf(offered, present) {
  return ['READ_ONLY', 'READ_WRITE', 'NONE'].filter(
    each => each === present || each !== 'NONE' && offered.includes(each));
}

/** The address of a picture, where its bytes begin as one does. */
export function pictureOf(share) {
  const value = share?.fields?.['cloudkit.thumbnailImageData']?.value;
  const kinds = {iVBORw0KGgo: 'png', '/9j/': 'jpeg', UklGR: 'webp'};
  const kind = typeof value === 'string' && Object.keys(kinds).find(each => value.startsWith(each));
  return kind ? `data:image/${kinds[kind]};base64,${value}` : undefined;
}
