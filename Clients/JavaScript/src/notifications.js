// Notices of changes: waiting for them at the server, and what listeners are told.

import {constants} from './enums.js';
import {isFault} from './errors.js';
import {parsedAnswer} from './requests.js';

const reasons = Object.values(constants.QueryNotificationReason);

export class Notification {
  constructor({aps = {}, ck}, change) {
    const alert = typeof aps.alert === 'string' ? {body: aps.alert} : aps.alert ?? {};
    Object.assign(this, {
      notificationID: ck.nid, containerIdentifier: ck.cid, subscriptionID: change.sid,
      alertBody: alert.body, alertLocalizationKey: alert['loc-key'],
      alertLocalizationArgs: alert['loc-args'],
      alertActionLocalizationKey: alert['action-loc-key'], alertLaunchImage: alert['launch-image'],
      badge: aps.badge, soundName: aps.sound, category: aps.category, isPruned: Boolean(ck.p),
    });
    if (change.zid !== undefined) {
      this.zoneID = {zoneName: change.zid, ownerRecordName: change.zoid};
    }
  }

  get isNotification() { return true; }
  get isQueryNotification() { return false; }
  get isRecordZoneNotification() { return false; }

  toString() {
    return `${this.constructor.name} ${JSON.stringify(this)}`;
  }
}

export class QueryNotification extends Notification {
  constructor(payload, change) {
    super(payload, change);
    this.notificationType = constants.NotificationType.NOTIFICATION_TYPE_QUERY;
    this.recordName = change.rid;
    this.recordFields = change.af ?? {};
    this.queryNotificationReason = reasons[change.fo - 1];
    this.isPublicDatabase = change.dbs === 0;
  }

  get isQueryNotification() { return true; }
}

export class RecordZoneNotification extends Notification {
  constructor(payload, change) {
    super(payload, change);
    this.notificationType = constants.NotificationType.NOTIFICATION_TYPE_RECORD_ZONE;
  }

  get isRecordZoneNotification() { return true; }
}

/** A notice as listeners get it. */
export function notificationOf(payload) {
  const {fet, qry, met} = payload.ck;
  if (fet) return new RecordZoneNotification(payload, fet);
  if (qry) return new QueryNotification(payload, qry);
  return new Notification(payload, met ?? {});
}

/** Notices that were told lately, by which a repeat is known. */
const rememberedMax = 500;
const failurePauseMillisecondsMax = 30_000;
/** The server answers a poll without news well before. */
const pollSeconds = 90;

/** Waits for a container's notices while there are a token and listeners. */
export class NotificationFeed {
  #configuration;
  #requests;
  #log;
  #listeners = new Set();
  #courier = null;
  #running = null;
  #told = new Set();

  constructor(configuration, requests, log) {
    this.#configuration = configuration;
    this.#requests = requests;
    this.#log = log;
  }

  get isRegistered() { return this.#courier !== null; }

  async register({apnsToken, refreshToken = false, dontPoll = false} = {}) {
    if (this.#courier && !apnsToken && !refreshToken) return;
    const kept = refreshToken ? undefined : apnsToken;
    const courier = await this.#token(kept);
    this.unregister();
    this.#courier = {...courier, isPolled: !dontPoll};
    this.#poll();
  }

  unregister() {
    this.#courier = null;
    this.#stop();
  }

  add(listener) {
    this.#listeners.add(listener);
    this.#poll();
  }

  remove(listener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#stop();
  }

  async #token(apnsToken) {
    const {apnsEnvironment, clientId} = this.#configuration;
    return this.#requests.sendOfDevice(
      apnsToken ? 'tokens/register' : 'tokens/create', {apnsEnvironment, apnsToken, clientId});
  }

  #stop() {
    this.#running?.abort();
    this.#running = null;
  }

  #poll() {
    if (this.#running || !this.#courier?.isPolled || this.#listeners.size === 0) return;
    const running = new AbortController();
    this.#running = running;
    this.#pollUntilStopped(running.signal)
      .catch(error => this.#log('error', `no more notifications: ${error}`))
      .finally(() => { if (this.#running === running) this.unregister(); });
  }

  /** Ends by `signal`, or by an error when the session has ended. */
  async #pollUntilStopped(signal) {
    let hasToken = true;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (!hasToken) await this.#renew(signal);
        hasToken = true;
        await this.#take(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (error.ckErrorCode === 'AUTHENTICATION_FAILED' && hasToken) {
          hasToken = false;
          continue;
        }
        if (error.isAuthError) throw error;
        this.#log('warn', `waiting for notifications: ${error}`);
        const milliseconds = error.retryAfter ? error.retryAfter * 1000 : 10 * 4 ** failures++;
        await pause(Math.min(milliseconds, failurePauseMillisecondsMax), signal);
      }
    }
  }

  /** One poll, and what it brings. */
  async #take(signal) {
    const {answer, text} = await this.#requests.fetch(
      this.#courier.webcourierURL, {signal}, pollSeconds);
    // Without news the answer is empty.
    if (answer.ok && !text) return;
    const payload = parsedAnswer(answer, text);
    if (!signal.aborted && payload.ck && !isFault(payload)) this.#tell(payload);
  }

  /** The token has ended: gets the next one. */
  async #renew(signal) {
    const courier = await this.#token(this.#courier.apnsToken);
    if (!signal.aborted) this.#courier = {...this.#courier, ...courier};
  }

  #tell(payload) {
    const notification = notificationOf(payload);
    const key = `${notification.notificationID} ${notification.subscriptionID}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    if (this.#told.size > rememberedMax) this.#told.delete(this.#told.values().next().value);
    for (const listener of [...this.#listeners]) {
      try {
        listener(notification);
      } catch (error) {
        this.#log('error', `a listener failed: ${error?.stack ?? error}`);
      }
    }
  }
}

function pause(milliseconds, signal) {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, {once: true});
  });
}
