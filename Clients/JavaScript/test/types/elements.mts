import CloudKit from '../../cloudkit.js';
import {englishTexts, shareSource} from '../../elements.js';
import type {Share, ShareSource} from '../../elements.js';

const database = CloudKit.getDefaultContainer().privateCloudDatabase;
const sheet = document.createElement('share-sheet');
sheet.source = shareSource({database, record: 'note', zoneID: 'Notes', serverURL: 'https://a.example'});
sheet.options = {access: ['PRIVATE'], hasDone: true};
sheet.texts = {...englishTexts, sheetInviteDo: 'Einladen'};
const own: ShareSource = {
  read: async () => null,
  save: async (share: Share | null, {participants = []}) => ({
    recordName: 's', recordChangeTag: '1', fields: {}, ...share, participants}),
  end: async () => {},
};
sheet.source = own;
await sheet.reload();
document.createElement('sign-in-button').container = CloudKit.getDefaultContainer();
const {share} = await database.shareWithUI({record: 'note', zoneID: 'Notes', supportedAccess: ['PRIVATE']});
const guid: string | undefined = share?.shortGUID;
document.title = guid ?? '';
