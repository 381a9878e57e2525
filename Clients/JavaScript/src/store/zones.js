// Zones as an app names them.

import {StoreError} from './errors.js';

/** What tells zones apart: an own one by its name, another's by owner and name. */
export function zoneKey(scope, {zoneName, ownerRecordName}) {
  return scope === 'PRIVATE' ? `PRIVATE//${zoneName}` : `SHARED/${ownerRecordName}/${zoneName}`;
}

/** `{key, scope, zoneID}` of a name or an ID; with another's name it is in the shared database. */
export function zoneOf(zone, account) {
  const zoneID = typeof zone === 'string' ? {zoneName: zone} : zone?.zoneID ?? zone;
  if (typeof zoneID?.zoneName !== 'string' || zoneID.zoneName.startsWith('_')) {
    throw new StoreError('INVALID_ARGUMENTS', 'a zone needs a zoneName, and is not a default zone');
  }
  const {ownerRecordName} = zoneID;
  const scope = ownerRecordName && ownerRecordName !== account ? 'SHARED' : 'PRIVATE';
  return {key: zoneKey(scope, zoneID), scope, zoneID};
}

/** A zone as requests name it: with its owner, so that nobody else's is meant who has signed in. */
export function askedZoneID({scope, zoneID: {zoneName, ownerRecordName}}, account) {
  return {zoneName, ownerRecordName: scope === 'PRIVATE' ? account : ownerRecordName};
}
