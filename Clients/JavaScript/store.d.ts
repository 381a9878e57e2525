// The types of store.js, written by hand.

import type {Container} from './cloudkit.js';

export interface StoreOptions {
  container: Container;
  /** Of this store among those of the app; 'default' when left out. */
  name?: string;
  /** The names of the private zones to follow; all by default. */
  zones?: readonly string[];
  /** Whether to follow what others share, true by default. */
  hasShared?: boolean;
  /** How two changes of one record become one; `mergeByField` by default. */
  merge?: Merge;
  /** Whether data stay on the device when somebody signs out; false by default. */
  keepsOnSignOut?: boolean;
  /** What becomes of the data when somebody else signs in; 'drop' by default. */
  onAccountChange?: 'drop' | 'keep';
  /** 'browser' by default, where there is one. */
  storage?: 'browser' | 'memory';
  /** How much of downloaded files is kept, 50 MiB by default. */
  cacheBytesMax?: number;
  /** By which files are sent and fetched; the global one by default. */
  fetch?: (url: string, options?: RequestInit) => Promise<Response>;
  /** The first pause after a failure, 1000 by default; later ones are longer. */
  backoffMilliseconds?: number;
}

export interface Field {
  value: any;
  type?: string;
}

export type Fields = Record<string, Field>;

export interface Reference {
  recordName: string;
  [key: string]: unknown;
}

export interface ZoneID {
  zoneName: string;
  ownerRecordName?: string;
  zoneType?: string;
}

/** What of a record an app sets. */
export interface Content {
  recordType: string;
  fields: Fields;
  encryptedValues?: Fields;
  parent?: Reference;
}

export interface Change {
  timestamp: number;
  userRecordName?: string;
  deviceID?: string;
}

/** A record as it is on this device; it never changes, another one takes its place. */
export interface StoredRecord extends Readonly<Content> {
  readonly recordName: string;
  readonly zoneID: ZoneID;
  readonly created: Change;
  readonly modified: Change;
  /** Missing until the server has it. */
  readonly recordChangeTag?: string;
  readonly share?: Reference;
  readonly shortGUID?: string;
  /** Whether something of it waits to be sent. */
  readonly isPending: boolean;
  /** Why it is not sent. */
  readonly refused?: Refusal;
  /** Of a record that was deleted here, and whose deletion was refused. */
  readonly isDeleted?: boolean;
  /** More, as the server has it: `participants` of a share, for example. */
  readonly [key: string]: any;
}

export interface Refusal {
  /** A code of CKError or of StoreError. */
  code: string;
  reason: string;
}

export interface RecordToSave {
  recordName?: string;
  /** Needed for a new record. */
  recordType?: string;
  /** Those that are not named stay as they are; `{value: null}` takes one away. */
  fields?: Fields;
  encryptedValues?: Fields;
  parent?: Reference | null;
}

export type Merge = (versions: {
  /** What both were made of; null when there was no record. */
  base: Content | null;
  /** Null when it was deleted here. */
  mine: Content | null;
  /** Null when it was deleted there. */
  theirs: Content | null;
  /** Whether `mine` was made after `theirs` was saved, by the server's clock. */
  isMineNewer: boolean;
  /** The record as the server has it. */
  record: any;
}) => Partial<Content> | null;

export const mergeByField: Merge;

export interface Query {
  recordType?: string;
  where?: (record: StoredRecord) => unknown;
  sortBy?: readonly Sort[] | ((one: StoredRecord, other: StoredRecord) => number);
  limit?: number;
}

export interface Sort {
  fieldName?: string;
  systemFieldName?: 'recordName' | 'createdTimestamp' | 'modifiedTimestamp';
  /** True by default. */
  ascending?: boolean;
}

export interface LiveQuery {
  /** What matches now: the same array until something in it changes. */
  readonly records: readonly StoredRecord[];
  /** Returns how to stop. */
  subscribe(listener: (change: LiveChange) => void): () => void;
  close(): void;
}

export interface LiveChange {
  records: readonly StoredRecord[];
  added: StoredRecord[];
  changed: StoredRecord[];
  removed: StoredRecord[];
}

export interface StoreZone {
  readonly scope: 'PRIVATE' | 'SHARED';
  readonly zoneID: ZoneID;
  readonly records: StoredRecord[];
  get(recordName: string): StoredRecord | undefined;
  /** Resolves with what is kept on this device; it is sent when the network allows. */
  save(record: RecordToSave): Promise<StoredRecord>;
  save(records: readonly RecordToSave[]): Promise<StoredRecord[]>;
  /** The file in a field, as a Blob; of a list, the one at an index. */
  file(record: StoredRecord, fieldName: string, index?: number): Promise<Blob>;
  delete(records: string | {recordName: string} | readonly (string | {recordName: string})[]):
    Promise<void>;
  /**
   * Shares a record and all whose `parent` leads to it, or changes how it is shared. Needs a network.
   * The `shortGUID` of the share is for links.
   */
  share(record: string | {recordName: string}, settings?: ShareSettings): Promise<any>;
  /** Ends sharing; a participant leaves. */
  stopSharing(record: string | {recordName: string}): Promise<void>;
  live(query?: Query): LiveQuery;
}

export interface ShareSettings {
  title?: string;
  publicPermission?: 'NONE' | 'READ_ONLY' | 'READ_WRITE';
  participants?: object[];
}

export interface Status {
  readonly state:
    'starting' | 'syncing' | 'current' | 'offline' | 'signedOut' | 'failing' | 'closed';
  /** What went wrong last, until it is over. */
  readonly error?: Error & {ckErrorCode?: string; code?: string; remedy?: string};
  /** How many records wait to be sent. */
  readonly pending: number;
  /** How many the server does not take. */
  readonly refused: number;
  /** Whether this tab syncs for all. */
  readonly isLeader: boolean;
  /** False where data last as long as the page. */
  readonly isPersistent: boolean;
}

/** The key of `encryptedValues`. */
export interface Encryption {
  /** 'locked' when another device has made the key. */
  status(): Promise<'ready' | 'locked' | 'notSetUp'>;
  /** Makes the key. Resolves with the recovery code, to be shown once and kept by its owner. */
  setUp(passphrase?: string): Promise<string>;
  /** On the device that has made the key. */
  recoveryCode(): Promise<string | undefined>;
  unlock(by: {passphrase: string} | {recoveryCode: string}): Promise<void>;
  setPassphrase(passphrase: string): Promise<void>;
  /** Forgets the key on this device. */
  lock(): Promise<void>;
}

export interface StoreEvents {
  status: Status;
  refused: StoredRecord;
  account: {account: string; before: string | null};
}

export class LenticularStore {
  static open(options: StoreOptions): Promise<LenticularStore>;
  private constructor();
  readonly status: Status;
  /** Whose data this is; null before anybody signed in. */
  readonly account: string | null;
  readonly zones: StoreZone[];
  readonly encryption: Encryption;
  /** Records whose changes the server does not take. */
  readonly refused: StoredRecord[];
  /** By name, or by an ID with the owner's name for what others share. */
  zone(zone: string | ZoneID | {zoneID: ZoneID}): StoreZone;
  live(query?: Query & {zone?: StoreZone}): LiveQuery;
  /** Returns how to stop. */
  on<Event extends keyof StoreEvents>(
    event: Event, listener: (value: StoreEvents[Event]) => void): () => void;
  /** Resolves once all is sent and read; rejects where that fails now. */
  sync(): Promise<void>;
  /** Takes part in what a link leads to. */
  acceptShare(shortGUID: string): Promise<{zoneID: ZoneID; recordName: string}>;
  /**
   * Has changes wake the service worker of a registration, by the key that `lenticular push key list`
   * shows. To be called after a click.
   */
  enablePush(registration: ServiceWorkerRegistration, applicationServerKey: string): Promise<void>;
  retry(record: StoredRecord): Promise<void>;
  discard(record: StoredRecord): Promise<void>;
  signOut(options?: {force?: boolean}): Promise<void>;
  /** Forgets all data of this device, and nothing on the server. */
  erase(): Promise<void>;
  close(): void;
}

/** In a service worker: syncs on each push, and shows the notification that browsers insist on. */
export function syncOnPush(options: {
  open: () => Promise<LenticularStore>;
  notification: {title: string; [option: string]: unknown};
  /** The page that a click on the notification opens. */
  url?: string;
}): void;

export class StoreError extends Error {
  readonly code: 'STORAGE_FULL' | 'UNSENT_CHANGES' | 'MERGE_FAILED' | 'LOCKED' | 'WRONG_SECRET' |
    'NOT_FOUND' | 'INVALID_ARGUMENTS' | 'CLOSED';
  readonly remedy: string;
}
