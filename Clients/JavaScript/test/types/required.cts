import Required = require('../../cloudkit.cjs');

const database: Required.Database = Required.configure({
  containers: [{
    containerIdentifier: 'iCloud.org.example.Notes', environment: 'development',
    serverToServerKeyAuth: {keyID: 'k', privateKeyFile: 'key.pem'},
  }],
}).getDefaultContainer().publicCloudDatabase;

export const fetched: Promise<Required.RecordsResponse> = database.fetchRecords('a');
export const code: Required.CKErrorCode = Required.CKError.CONFLICT;
