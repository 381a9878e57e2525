import CloudKitDefault, {CKError, CloudKit} from '../../cloudkit.js';
import type {CloudRecord, Notification, QueryNotification, QueryResponse} from '../../cloudkit.js';

CloudKit.configure({
  serverURL: 'https://sync.example.org',
  containers: [{
    containerIdentifier: 'iCloud.org.example.Notes', environment: 'production',
    apiTokenAuth: {
      apiToken: 'a', persist: true, signIn: 'redirect',
      signInButton: {id: 'in', theme: 'white-with-outline', text: 'Sign in'},
    },
  }],
  services: {
    fetch: (url, options) => fetch(url, options), logger: console, timeoutSeconds: 10,
    authTokenStore: {putToken: (_, token) => token, getToken: async () => null},
  },
});

const container = CloudKitDefault.getDefaultContainer();
const database = container.privateCloudDatabase;

async function all(): Promise<CloudRecord[]> {
  const found: CloudRecord[] = [];
  let page: QueryResponse = await database.performQuery(
    {recordType: 'Note', filterBy: [{
      fieldName: 'text', comparator: CloudKit.QueryFilterComparator.BEGINS_WITH,
      fieldValue: {value: 'a'}}]},
    {zoneID: 'Notes', resultsLimit: 10});
  found.push(...page.records);
  while (page.moreComing) {
    page = await database.performQuery(page);
    found.push(...page.records);
  }
  return found;
}

export async function save(text: string): Promise<string | undefined> {
  const {records, errors} = await database.newRecordsBatch({zoneID: {zoneName: 'Notes'}, atomic: true})
    .create({recordType: 'Note', fields: {
      text: {value: text}, at: {value: new Date()}, picture: {value: new Blob([])}, n: {value: 1n}}})
    .delete(await all()).commit();
  for (const error of errors) {
    if (error.ckErrorCode === CKError.CONFLICT) return error.serverRecord?.recordChangeTag;
  }
  return records[0]?.created.user;
}

container.addNotificationListener((notification: Notification) => {
  if (notification.isQueryNotification) {
    const query = notification as QueryNotification;
    console.log(query.recordName, query.queryNotificationReason);
  }
});

// @ts-expect-error: an error code that there is not.
console.log(CKError.NO_SUCH_CODE);
// @ts-expect-error: an environment that there is not.
CloudKit.configure({containers: [{containerIdentifier: 'x', environment: 'test'}]});
// @ts-expect-error: a record has a type or a name, not a title.
database.fetchRecords({title: 'x'});
