// Where a share sheet gets a share from, and what it does to it: a database of the server.

import {uniqueID} from '../unique.js';

const shareType = 'cloudkit.share';
const zoneShareName = 'cloudkit.zoneshare';

/**
 * A source of data for `<share-sheet>`: the share of a record with all below it, or of a zone.
 *
 * `database`: whose `request(endpoint, body)` sends; one of cloudkit.js will do. `record`: the name
 * of the root, or the record; none for the whole zone. `serverURL` is for links.
 */
export function shareSource({database, record, zoneID, serverURL, title, type, thumbnail}) {
  const root = typeof record === 'string' ? record : record?.recordName;
  const askedZone = zoneID ?? record?.zoneID;
  const zone = typeof askedZone === 'string' ? {zoneName: askedZone} : askedZone;
  let rootTag;

  const lookup = async recordName => {
    const {records: [found]} = await database.request(
      'records/lookup', {zoneID: zone, records: [{recordName}]});
    return found;
  };
  const modify = async operation => {
    const {records} = await database.request(
      'records/modify', {zoneID: zone, atomic: true, operations: [operation]});
    return checked(records.find(({serverErrorCode}) => serverErrorCode) ?? records[0]);
  };
  const fields = Object.fromEntries(Object.entries({
    'cloudkit.title': title, 'cloudkit.type': type, 'cloudkit.thumbnailImageData': thumbnail,
  }).filter(([, value]) => typeof value === 'string').map(([name, value]) => [name, name
    .endsWith('Data') ? {value, type: 'BYTES'} : {value}]));

  return {
    title,

    /** The share, or null where there is none. */
    async read() {
      const found = await lookup(root ?? zoneShareName);
      if (root === undefined) return found.serverErrorCode === 'NOT_FOUND' ? null : checked(found);
      rootTag = checked(found).recordChangeTag;
      return found.share ? checked(await lookup(found.share.recordName)) : null;
    },

    /** Changes the share, or makes it where it is null; resolves with it. */
    async save(share, changes) {
      if (!share) {
        return modify({operationType: 'create', record: {
          recordType: shareType, fields, ...changes, ...root === undefined
            ? {recordName: zoneShareName}
            : {recordName: uniqueID(), forRecord: {recordName: root, recordChangeTag: rootTag}},
        }});
      }
      const {recordName, recordChangeTag, publicPermission, allowsAccessRequests} = share;
      return modify({operationType: 'update', record: {
        recordType: shareType, recordName, recordChangeTag, publicPermission,
        allowsAccessRequests, ...changes,
      }});
    },

    /** Ends sharing; of somebody else's, ends one's own part. */
    async end({recordName}) {
      await modify({operationType: 'forceDelete', record: {recordName}});
    },

    link: ({shortGUID}) => shortGUID && serverURL
      ? `${serverURL.replace(/\/+$/, '')}/share/${encodeURIComponent(shortGUID)}` : undefined,
  };
}

function checked(record) {
  if (!record?.serverErrorCode) return record;
  throw Object.assign(new Error(record.reason), {...record, ckErrorCode: record.serverErrorCode});
}
