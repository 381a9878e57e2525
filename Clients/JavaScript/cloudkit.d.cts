declare namespace CloudKit {
  // The types of cloudkit.js, written by hand. build.mjs makes those for classic scripts and for
  // require() of them.

  export type Environment = 'development' | 'production';
  export type DatabaseScope = 'PUBLIC' | 'PRIVATE' | 'SHARED';
  export type OneOrMany<Item> = Item | readonly Item[];

  export interface CloudKitConfig {
    containers: ContainerConfig[];
    /** Such as `https://sync.example.org`; by default the server that this script came from. */
    serverURL?: string;
    /** Names this device: it hears of others' changes, not of its own. Made up when left out. */
    clientId?: string;
    services?: Services;
  }

  export interface Services {
    fetch?: (url: string, options?: RequestInit) => Promise<globalThis.Response>;
    logger?: Partial<Pick<Console, 'info' | 'log' | 'warn' | 'error'>>;
    Promise?: PromiseConstructorLike;
    authTokenStore?: AuthTokenStore;
    /** How long an answer may take, 90 by default; 0 for any time. Uploads take their time. */
    timeoutSeconds?: number;
  }

  export interface AuthTokenStore {
    putToken(containerIdentifier: string, token: string | null): unknown;
    getToken(containerIdentifier: string):
      string | null | undefined | Promise<string | null | undefined>;
  }

  export interface ContainerConfig {
    containerIdentifier: string;
    environment: Environment;
    /** For this container, in place of that of CloudKitConfig. */
    serverURL?: string;
    apnsEnvironment?: Environment;
    apiTokenAuth?: APITokenAuth;
    serverToServerKeyAuth?: ServerToServerKeyAuth;
    /** Read in place of serverURL, for pages that are configured so. */
    publicDatabasePartition?: string;
    privateDatabasePartition?: string;
  }

  export interface APITokenAuth {
    apiToken: string;
    /** Whether the user stays signed in when the page is closed. */
    persist?: boolean;
    /** How the button leads to the sign-in page: in a window beside the page, or in its place. */
    signIn?: 'popup' | 'redirect';
    signInButton?: ButtonConfig;
    signOutButton?: ButtonConfig;
  }

  export interface ButtonConfig {
    id?: string;
    theme?: 'black' | 'white' | 'white-with-outline';
    text?: string;
  }

  export interface ServerToServerKeyAuth {
    keyID: string;
    privateKeyFile?: string;
    /** The key itself, as PEM, in place of a file. */
    privateKey?: string;
    privateKeyPassPhrase?: string;
  }

  export interface Container {
    readonly containerIdentifier: string;
    readonly environment: Environment;
    readonly apnsEnvironment: Environment;
    readonly publicCloudDatabase: Database;
    readonly privateCloudDatabase: Database;
    readonly sharedCloudDatabase: Database;
    readonly isRegisteredForNotifications: boolean;
    /** Milliseconds that the server's clock is ahead of this one, as last heard. */
    readonly clockOffset: number | undefined;
    getDatabaseWithDatabaseScope(scope: DatabaseScope): Database;
    getConfig(): ContainerConfig;
    /** Resolves with the user who is signed in, or null. Shows the buttons. */
    setUpAuth(): Promise<UserIdentity | null>;
    /** Resolves at the next sign-in. */
    whenUserSignsIn(): Promise<UserIdentity>;
    /** `isChosen`: by `signOut` or the button of this page, and not because the session ended. */
    whenUserSignsOut(): Promise<{isChosen: boolean}>;
    fetchCurrentUserIdentity(): Promise<UserIdentity>;
    /** Leads to the sign-in page as the button does; to be called by the handler of a click. */
    signIn(): Promise<UserIdentity>;
    signOut(): Promise<void>;
    discoverAllUserIdentities(): Promise<UserIdentitiesResponse>;
    discoverUserIdentities(lookupInfos: OneOrMany<UserLookupInfo>): Promise<UserIdentitiesResponse>;
    discoverUserIdentityWithEmailAddress(emailAddress: string): Promise<UserIdentitiesResponse>;
    discoverUserIdentityWithPhoneNumber(phoneNumber: string): Promise<UserIdentitiesResponse>;
    discoverUserIdentityWithUserRecordName(name: string): Promise<UserIdentitiesResponse>;
    acceptShares(shortGUIDs: OneOrMany<string | ShortGUID>): Promise<RecordInfosResponse>;
    fetchRecordInfos(shortGUIDs: OneOrMany<string | ShortGUID>): Promise<RecordInfosResponse>;
    registerForNotifications(options?: RegistrationOptions): Promise<Container>;
    /** Has notices sent to a `PushSubscription` of the browser, also while no page is open. */
    registerPushSubscription(subscription: {toJSON(): PushSubscriptionJSON}): Promise<void>;
    /**
     * Where notices wait that are told to no listener, also those of this page's own changes. Hand
     * in the token of a former call, so that it goes on with that.
     */
    fetchCourier(apnsToken?: string): Promise<{webcourierURL: string; apnsToken: string}>;
    unregisterForNotifications(): void;
    addNotificationListener(listener: NotificationListener): void;
    removeNotificationListener(listener: NotificationListener): void;
  }

  export interface RegistrationOptions {
    apnsToken?: string;
    refreshToken?: boolean;
    dontPoll?: boolean;
  }

  export type NotificationListener = (
    notification: Notification | QueryNotification | RecordZoneNotification) => void;

  export interface Database {
    readonly containerIdentifier: string;
    readonly databaseScope: DatabaseScope;
    saveRecords(records: OneOrMany<RecordToSave>, options?: SaveOptions): Promise<RecordsResponse>;
    fetchRecords(
      records: OneOrMany<string | RecordReference>, options?: RecordOptions):
      Promise<RecordsResponse>;
    deleteRecords(
      records: OneOrMany<string | RecordReference>, options?: ZoneOption): Promise<RecordsResponse>;
    performQuery(query: Query | QueryResponse, options?: QueryOptions): Promise<QueryResponse>;
    newRecordsBatch(options?: SaveOptions): RecordsBatchBuilder;
    saveRecordZones(zones: OneOrMany<Zone>): Promise<RecordZonesResponse>;
    fetchRecordZones(zones: OneOrMany<Zone>): Promise<RecordZonesResponse>;
    deleteRecordZones(zones: OneOrMany<Zone>): Promise<RecordZonesResponse>;
    fetchAllRecordZones(): Promise<RecordZonesResponse>;
    fetchDatabaseChanges(options?: DatabaseChangesOptions): Promise<DatabaseChangesResponse>;
    fetchRecordZoneChanges(
      zones: OneOrMany<RecordZoneChangesOptions>, options?: WaitOption):
      Promise<RecordZoneChangesResponse>;
    saveSubscriptions(subscriptions: OneOrMany<Subscription>): Promise<SubscriptionsResponse>;
    fetchSubscriptions(
      subscriptions: OneOrMany<string | SubscriptionReference>): Promise<SubscriptionsResponse>;
    deleteSubscriptions(
      subscriptions: OneOrMany<string | SubscriptionReference>): Promise<SubscriptionsResponse>;
    fetchAllSubscriptions(): Promise<SubscriptionsResponse>;
    /** Sends to any endpoint of this database, such as `changes/zone`; resolves with the answer. */
    request(endpoint: string, body?: object, options?: {signal?: AbortSignal}): Promise<any>;
    /** Rejects with SERVICE_UNAVAILABLE: this version has no page for sharing. */
    /**
     * Shows the server's share sheet over the page, until it is closed.
     *
     * The API token needs the page's origin. The share is null where nothing is shared then.
     */
    shareWithUI(options: SharingUIOptions): Promise<SharingUIResult>;
  }

  export interface RecordsBatchBuilder {
    create(records: OneOrMany<RecordToSave>, options?: KeysOption): this;
    createOrUpdate(records: OneOrMany<RecordToSave>, options?: KeysOption): this;
    update(records: OneOrMany<RecordToSave>, options?: KeysOption): this;
    forceUpdate(records: OneOrMany<RecordToSave>, options?: KeysOption): this;
    replace(records: OneOrMany<RecordToSave>, options?: KeysOption): this;
    forceReplace(records: OneOrMany<RecordToSave>, options?: KeysOption): this;
    delete(records: OneOrMany<string | RecordReference>): this;
    forceDelete(records: OneOrMany<string | RecordReference>): this;
    commit(): Promise<RecordsResponse>;
  }

  export interface ZoneOption { zoneID?: string | ZoneID }
  export interface KeysOption { desiredKeys?: string[] }
  /** Holds an answer without news for up to 55 seconds. */
  export interface WaitOption { waitSeconds?: number }
  export interface RecordOptions extends ZoneOption, KeysOption { numbersAsStrings?: boolean }
  export interface SaveOptions extends RecordOptions { atomic?: boolean }
  export interface QueryOptions extends RecordOptions {
    resultsLimit?: number;
    continuationMarker?: string;
    zoneWide?: boolean;
  }
  export interface DatabaseChangesOptions extends WaitOption {
    syncToken?: string;
    resultsLimit?: number;
  }
  export interface RecordZoneChangesOptions extends KeysOption {
    zoneID: string | ZoneID;
    syncToken?: string;
    desiredRecordTypes?: string[];
    resultsLimit?: number;
    numbersAsStrings?: boolean;
  }

  export interface SharingUIOptions {
    /** The root of what is shared; without it, the whole zone is. */
    record?: string | CloudRecord;
    /** Where the record does not say it. */
    zoneID?: string | ZoneID;
    shareTitle?: string;
    shareType?: string;
    /** A picture: a Blob, bytes, or base64. */
    shareThumbnail?: Blob | ArrayBuffer | Uint8Array | string;
    supportedAccess?: Array<'PRIVATE' | 'PUBLIC'>;
    supportedPermissions?: Array<'READ_ONLY' | 'READ_WRITE'>;
  }

  export interface SharingUIResult { share: Share | null }

  export interface ZoneID { zoneName: string; ownerRecordName?: string; zoneType?: string }
  export type Zone = string | ZoneID | { zoneID: string | ZoneID };
  export interface RecordZone {
    zoneID: ZoneID;
    syncToken?: string;
    atomic?: boolean;
    deleted?: boolean;
  }

  export interface RecordReference { recordName: string; recordChangeTag?: string }
  export interface Reference {
    recordName: string;
    zoneID?: ZoneID;
    action?: 'NONE' | 'DELETE_SELF' | 'VALIDATE';
  }
  export interface Asset {
    fileChecksum: string;
    size: number;
    downloadURL?: string;
    receipt?: string;
    wrappingKey?: string;
    referenceChecksum?: string;
  }
  export interface Location {
    latitude: number;
    longitude: number;
    altitude?: number;
    horizontalAccuracy?: number;
    verticalAccuracy?: number;
    course?: number;
    speed?: number;
    timestamp?: number;
  }
  export type Value = string | number | Reference | Asset | Location;
  export interface RecordField {
    value: any;
    type?: string;
    isEncrypted?: boolean;
  }
  /** What may be saved: Blobs are uploaded, dates and large integers get the form of the wire. */
  export interface FieldToSave {
    value: OneOrMany<Value | Blob | Date | bigint> | null;
    type?: string;
    isEncrypted?: boolean;
  }
  export interface RecordToSave {
    recordType?: string;
    recordName?: string;
    recordChangeTag?: string;
    fields?: { [name: string]: FieldToSave | RecordField };
    parent?: { recordName: string } | null;
    createShortGUID?: boolean;
    [key: string]: any;
  }
  export interface RecordChange {
    timestamp: number;
    userRecordName: string;
    /** Another name of userRecordName. */
    user: string;
    deviceID: string;
  }
  export interface CloudRecord {
    recordName: string;
    /** Missing in a deletion. */
    recordType: string;
    recordChangeTag: string;
    fields: { [name: string]: RecordField };
    created: RecordChange;
    modified: RecordChange;
    deleted: boolean;
    zoneID: ZoneID;
    parent?: { recordName: string };
    share?: { recordName: string; zoneID?: ZoneID };
    shortGUID?: string;
    [key: string]: any;
  }
  export interface Share extends CloudRecord {
    publicPermission: ShareParticipantPermission;
    participants: ShareParticipant[];
    owner: ShareParticipant;
    currentUserParticipant?: ShareParticipant;
  }
  export type ShareParticipantPermission = 'UNKNOWN' | 'NONE' | 'READ_ONLY' | 'READ_WRITE';
  export interface ShareParticipant {
    participantId?: string;
    userIdentity: UserIdentity;
    type: string;
    acceptanceStatus?: string;
    permission: ShareParticipantPermission;
    [key: string]: any;
  }
  export interface ShortGUID {
    value: string;
    shouldFetchRootRecord?: boolean;
    rootRecordDesiredKeys?: string[];
  }

  export interface Query {
    recordType: string;
    filterBy?: OneOrMany<Filter>;
    sortBy?: OneOrMany<Sort>;
  }
  export interface Filter {
    comparator: string;
    fieldName?: string;
    systemFieldName?: string;
    fieldValue: RecordField;
    distance?: number;
  }
  export interface Sort {
    fieldName?: string;
    systemFieldName?: string;
    ascending?: boolean;
    relativeLocation?: Location | { value: Location };
  }

  export interface SubscriptionReference { subscriptionID: string }
  export interface Subscription {
    subscriptionID?: string;
    subscriptionType: 'query' | 'zone' | 'database';
    query?: Query;
    zoneID?: ZoneID;
    zoneWide?: boolean;
    firesOn?: ('create' | 'update' | 'delete')[];
    firesOnce?: boolean;
    notificationInfo?: NotificationInfo;
  }
  export interface NotificationInfo {
    alertBody?: string;
    alertLocalizationKey?: string;
    alertLocalizationArgs?: string[];
    alertActionLocalizationKey?: string;
    alertLaunchImage?: string;
    soundName?: string;
    shouldBadge?: boolean;
    shouldSendContentAvailable?: boolean;
    additionalFields?: string[];
    category?: string;
  }

  export interface NameComponents {
    namePrefix?: string;
    givenName?: string;
    middleName?: string;
    familyName?: string;
    nameSuffix?: string;
    nickname?: string;
  }
  export interface UserLookupInfo {
    emailAddress?: string;
    phoneNumber?: string;
    userRecordName?: string;
  }
  export interface UserIdentity {
    userRecordName: string;
    nameComponents?: NameComponents;
    lookupInfo?: UserLookupInfo;
    firstName?: string;
    lastName?: string;
  }

  export interface Response {
    readonly isResponse: true;
    readonly hasErrors: boolean;
    /** What failed among what was asked for; a request that fails as a whole rejects its promise. */
    readonly errors: CKError[];
  }
  export interface RecordsResponse extends Response {
    readonly isRecordsResponse: true;
    readonly records: CloudRecord[];
    readonly numbersAsStrings?: boolean;
  }
  export interface QueryResponse extends RecordsResponse {
    readonly isQueryResponse: true;
    readonly query: Query;
    readonly zoneID?: ZoneID;
    readonly zoneWide?: boolean;
    readonly resultsLimit?: number;
    readonly desiredKeys?: string[];
    readonly continuationMarker?: string;
    readonly moreComing: boolean;
  }
  export interface DatabaseChangesResponse extends Response {
    readonly isDatabaseChangesResponse: true;
    readonly zones: RecordZone[];
    readonly syncToken: string;
    readonly moreComing: boolean;
    readonly resultsLimit?: number;
  }
  export interface RecordZoneChangesResponse extends Response {
    readonly isRecordZoneChangesResponse: true;
    readonly zones: RecordZoneChanges[];
  }
  export interface RecordZoneChanges extends KeysOption {
    zoneID: ZoneID;
    records: CloudRecord[];
    syncToken: string;
    moreComing: boolean;
    desiredRecordTypes?: string[];
    resultsLimit?: number;
    numbersAsStrings?: boolean;
    errors: CKError[];
  }
  export interface RecordZonesResponse extends Response {
    readonly isRecordZonesResponse: true;
    readonly zones: RecordZone[];
  }
  export interface SubscriptionsResponse extends Response {
    readonly isSubscriptionsResponse: true;
    readonly subscriptions: Subscription[];
  }
  export interface UserIdentitiesResponse extends Response {
    readonly isUserIdentitiesResponse: true;
    readonly users: Partial<UserIdentity>[];
  }
  export interface RecordInfosResponse extends Response {
    readonly isRecordInfosResponse: true;
    readonly results: RecordInfo[];
  }
  export interface RecordInfo {
    shortGUID: ShortGUID;
    containerIdentifier: string;
    environment: Environment;
    databaseScope: DatabaseScope;
    zoneID: ZoneID;
    rootRecordName: string;
    rootRecord?: CloudRecord;
    share: Share;
    ownerIdentity: UserIdentity;
    participantType: string;
    participantStatus: string;
    participantPermission: ShareParticipantPermission;
  }

  export interface Notification {
    readonly isNotification: true;
    readonly isQueryNotification: boolean;
    readonly isRecordZoneNotification: boolean;
    /** Missing for subscriptions to a database. */
    readonly notificationType?: string;
    readonly notificationID: string;
    readonly subscriptionID?: string;
    readonly containerIdentifier: string;
    readonly zoneID?: ZoneID;
    readonly alertBody?: string;
    readonly alertLocalizationKey?: string;
    readonly alertLocalizationArgs?: string[];
    readonly alertActionLocalizationKey?: string;
    readonly alertLaunchImage?: string;
    readonly badge?: number;
    readonly soundName?: string;
    readonly category?: string;
    /** Whether something was left out: fetch what is new. */
    readonly isPruned: boolean;
  }
  export interface QueryNotification extends Notification {
    readonly isQueryNotification: true;
    readonly recordName: string;
    readonly recordFields: { [name: string]: any };
    readonly queryNotificationReason: string;
    readonly isPublicDatabase: boolean;
  }
  export interface RecordZoneNotification extends Notification {
    readonly isRecordZoneNotification: true;
  }

  export type CKErrorCode =
    'ACCESS_DENIED' | 'ATOMIC_ERROR' | 'AUTHENTICATION_FAILED' | 'AUTHENTICATION_REQUIRED' |
    'BAD_REQUEST' | 'CONFLICT' | 'EXISTS' | 'INTERNAL_ERROR' | 'NOT_FOUND' | 'QUOTA_EXCEEDED' |
    'THROTTLED' | 'TRY_AGAIN_LATER' | 'VALIDATING_REFERENCE_ERROR' | 'ZONE_NOT_FOUND' |
    'UNIQUE_FIELD_ERROR' | 'UNKNOWN_ERROR' | 'NETWORK_ERROR' | 'SERVICE_UNAVAILABLE' |
    'INVALID_ARGUMENTS' | 'UNEXPECTED_SERVER_RESPONSE' | 'CONFIGURATION_ERROR' |
    'AUTH_PERSIST_ERROR' | 'SIGN_IN_FAILED' | 'SHARE_UI_TIMEOUT';

  export interface CKError extends Error {
    readonly ckErrorCode: CKErrorCode;
    readonly serverErrorCode?: string;
    readonly extensionErrorCode?: string;
    readonly reason: string;
    /** What helps. */
    readonly remedy: string;
    /** Which of the cases of one code it is. */
    readonly detail?: string;
    readonly uuid?: string;
    /** In seconds. */
    readonly retryAfter?: number;
    readonly redirectURL?: string;
    readonly recordName?: string;
    readonly zoneID?: ZoneID;
    readonly subscriptionID?: string;
    /** With CONFLICT: the record as the server has it. */
    readonly serverRecord?: CloudRecord;
    /** Whether to fetch from the beginning, without a token. */
    readonly changeTokenExpired?: boolean;
    readonly isError: true;
    readonly isCKError: true;
    readonly isServerError: boolean;
    readonly isServerExtensionError: boolean;
    readonly isAuthError: boolean;
    toJSON(): object;
  }
  export type CKErrorConstructor =
    { readonly prototype: CKError } & { readonly [Code in CKErrorCode]: Code };

  export type Names<Name extends string> = { readonly [Each in Name]: Each };

  export interface CloudKitStatic {
    configure(configuration: CloudKitConfig): CloudKitStatic;
    getDefaultContainer(): Container;
    getContainer(containerIdentifier: string): Container | undefined;
    getAllContainers(): Container[];
    readonly VERSION: string;
    readonly BUILD_VERSION: string;
    readonly WS_API_VERSION: string;
    readonly DEVELOPMENT_ENVIRONMENT: 'development';
    readonly PRODUCTION_ENVIRONMENT: 'production';
    readonly CLOUDKIT_LOADED: 'cloudkitloaded';
    logToConsole: boolean;
    readonly Promise: PromiseConstructorLike;
    readonly CKError: CKErrorConstructor;
    readonly CKErrorCode: Names<CKErrorCode>;
    readonly DatabaseScope: Names<DatabaseScope>;
    readonly QueryFilterComparator: Names<
      'EQUALS' | 'NOT_EQUALS' | 'LESS_THAN' | 'LESS_THAN_OR_EQUALS' | 'GREATER_THAN' |
      'GREATER_THAN_OR_EQUALS' | 'NEAR' | 'CONTAINS_ALL_TOKENS' | 'CONTAINS_ANY_TOKENS' | 'IN' |
      'NOT_IN' | 'LIST_CONTAINS' | 'NOT_LIST_CONTAINS' | 'LIST_CONTAINS_ANY' |
      'NOT_LIST_CONTAINS_ANY' | 'LIST_CONTAINS_ALL' | 'NOT_LIST_CONTAINS_ALL' | 'BEGINS_WITH' |
      'NOT_BEGINS_WITH' | 'LIST_MEMBER_BEGINS_WITH' | 'NOT_LIST_MEMBER_BEGINS_WITH'>;
    readonly ReferenceAction: Names<'NONE' | 'DELETE_SELF' | 'VALIDATE'>;
    readonly ShareParticipantAcceptanceStatus: Names<'UNKNOWN' | 'PENDING' | 'ACCEPTED'>;
    readonly ShareParticipantPermission: Names<ShareParticipantPermission>;
    readonly ShareParticipantType: Names<'UNKNOWN' | 'OWNER' | 'PRIVATE_USER' | 'PUBLIC_USER'>;
    readonly SubscriptionType: {
      readonly QUERY: 'query'; readonly RECORD_ZONE: 'zone'; readonly DATABASE: 'database';
    };
    readonly ShareRecordType: {
      readonly NAME: 'cloudkit.share'; readonly TITLE_FIELD_NAME: 'cloudkit.title';
      readonly TYPE_FIELD_NAME: 'cloudkit.type';
      readonly THUMBNAIL_IMAGE_DATA_FIELD_NAME: 'cloudkit.thumbnailImageData';
    };
    readonly AppleIDButtonTheme: {
      readonly BLACK: 'black'; readonly WHITE: 'white';
      readonly WHITE_WITH_OUTLINE: 'white-with-outline';
    };
    readonly NOTIFICATION_TYPE_QUERY: 'NOTIFICATION_TYPE_QUERY';
    readonly NOTIFICATION_TYPE_RECORD_ZONE: 'NOTIFICATION_TYPE_RECORD_ZONE';
    readonly QUERY_NOTIFICATION_REASON_RECORD_CREATED: 'QUERY_NOTIFICATION_REASON_RECORD_CREATED';
    readonly QUERY_NOTIFICATION_REASON_RECORD_UPDATED: 'QUERY_NOTIFICATION_REASON_RECORD_UPDATED';
    readonly QUERY_NOTIFICATION_REASON_RECORD_DELETED: 'QUERY_NOTIFICATION_REASON_RECORD_DELETED';
  }

}

declare const CloudKit: CloudKit.CloudKitStatic;
export = CloudKit;
export as namespace CloudKit;
