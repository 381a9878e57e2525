// The elements: <share-sheet>, <sign-in-button>, and <share-frame>, which the server's own page has.

import type {CloudRecord, Container, Database, UserIdentity, ZoneID} from './cloudkit.js';

/** A share as the server answers with it. */
export interface Share {
  recordName: string;
  recordChangeTag: string;
  fields: {[name: string]: {value: unknown}};
  publicPermission?: SharePermission;
  allowsAccessRequests?: boolean;
  shortGUID?: string;
  participants?: Participant[];
  requesters?: Requester[];
  blockedIdentities?: Partial<UserIdentity>[];
  owner?: Participant;
  /** Who looks; without it, the sheet takes them for the owner. */
  currentUserParticipant?: Participant;
}

export type SharePermission = 'NONE' | 'READ_ONLY' | 'READ_WRITE';

export interface Participant {
  participantId?: string;
  type: 'OWNER' | 'ADMINISTRATOR' | 'USER' | 'PUBLIC_USER';
  acceptanceStatus?: 'INVITED' | 'ACCEPTED' | 'REMOVED';
  permission?: SharePermission;
  userIdentity?: Partial<UserIdentity>;
  oneTimeURL?: string;
  /** In what is sent: makes a link for the first person who uses it. */
  oneTimeLink?: boolean;
}

export interface Requester {
  userIdentity: Partial<UserIdentity>;
}

/** What changes of a share; what is left out stays. */
export interface ShareChanges {
  publicPermission?: SharePermission;
  participants?: Participant[];
  allowsAccessRequests?: boolean;
  approve?: string[];
  deny?: string[];
  block?: string[];
  unblock?: string[];
}

/**
 * Where a sheet gets a share from. An error's `ckErrorCode` or `code` says what went wrong: after
 * `CONFLICT` the sheet reads the share and tries once more.
 */
export interface ShareSource {
  /** The name of what is shared, for a share that has no title. */
  title?: string;
  /** The share, or null where there is none. */
  read(): Promise<Share | null>;
  /** Changes the share, or makes one where it is null; resolves with it. */
  save(share: Share | null, changes: ShareChanges): Promise<Share>;
  /** Ends sharing; for a participant, their own part in it. */
  end(share: Share): Promise<void>;
  /** The address for everybody who may see it; undefined where there is none. */
  link?(share: Share): string | undefined;
}

export interface ShareSheetOptions {
  access?: Array<'PRIVATE' | 'PUBLIC'>;
  permissions?: Array<'READ_ONLY' | 'READ_WRITE'>;
  /** Whether people can be made such who invite others. */
  mayInvite?: boolean;
  /** Whether there is a button to close, which fires `share-done`. */
  hasDone?: boolean;
  /** Whether name and picture of what is shared are above it, true by default. */
  hasTitle?: boolean;
}

/**
 * Who takes part in a share. Events, which bubble: `share-change` with `{share}`, `share-done` with
 * `{share}`, `share-error` with `{error}`.
 */
export class ShareSheet extends HTMLElement {
  source: ShareSource | null;
  get options(): Required<ShareSheetOptions>;
  set options(options: ShareSheetOptions);
  get texts(): ElementTexts;
  set texts(texts: Partial<ElementTexts>);
  /** Null where nothing is shared, undefined until it is read. */
  readonly share: Share | null | undefined;
  reload(): Promise<void>;
}

/** Signs in and out. Events, which bubble: `signed-in` with `{user}`, `signed-out`, `sign-in-error`. */
export class SignInButton extends HTMLElement {
  container: Container | null;
  get texts(): ElementTexts;
  set texts(texts: Partial<ElementTexts>);
  readonly user: UserIdentity | null;
}

/** The sheet in a frame of the server, which `shareWithUI` opens. */
export class ShareFrame extends HTMLElement {}

/** The sheet on the server's own page of a share. */
export class SharePage extends HTMLElement {}

export type ElementTexts = {[name: string]: string};

export const englishTexts: ElementTexts;

/** The share of a record with all below it, or of a whole zone, in a database of `cloudkit.js`. */
export function shareSource(options: {
  database: Pick<Database, 'request'>;
  record?: string | CloudRecord;
  zoneID?: ZoneID | string;
  /** Where links lead: the server's address. */
  serverURL?: string;
  title?: string;
  type?: string;
  /** A picture in base64. */
  thumbnail?: string;
}): ShareSource;

declare global {
  interface HTMLElementTagNameMap {
    'share-sheet': ShareSheet;
    'sign-in-button': SignInButton;
    'share-frame': ShareFrame;
    'share-page': SharePage;
  }
}
