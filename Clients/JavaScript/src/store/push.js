// Web Push: the server wakes a service worker when something has changed, also without a page.

const syncMilliseconds = 20_000;

/**
 * Has the server send a push for changes: makes the browser's subscription known to it.
 *
 * `applicationServerKey`: as `lenticular push key list` shows it. To be called after a click, as
 * browsers ask people first.
 */
export async function enablePush(container, scopes, registration, applicationServerKey) {
  const subscription = await registration.pushManager.subscribe(
    {userVisibleOnly: true, applicationServerKey});
  await container.registerPushSubscription(subscription);
  await subscribe(container, scopes);
}

/** Has the user's devices told of changes in databases. What is there already stays. */
export async function subscribe(container, scopes) {
  await Promise.all(scopes.map(async scope => {
    const {errors: [fault]} = await container.getDatabaseWithDatabaseScope(scope).saveSubscriptions({
      subscriptionID: 'lenticular-store', subscriptionType: 'database',
      notificationInfo: {shouldSendContentAvailable: true},
    });
    if (fault) throw fault;
  }));
}

/**
 * In a service worker: syncs on each push, and shows the notification that browsers insist on,
 * unless somebody looks at a page of the app.
 *
 * `open` resolves with a store; `notification`: its `title`, and more as `showNotification` has it.
 * A click on it leads to the app's page, or opens `url`.
 */
export function syncOnPush({open, notification: {title, ...options}, url = './'}) {
  addEventListener('push', event => event.waitUntil(answer(open, title, options)));
  addEventListener('notificationclick', event => {
    event.notification.close();
    event.waitUntil(windowsOf().then(([page]) => page ? page.focus() : clients.openWindow(url)));
  });
}

async function answer(open, title, options) {
  // What cannot be synced now is when the app is opened; the notification is due all the same.
  await syncOnce(open).catch(() => {});
  const windows = await windowsOf();
  if (windows.some(({visibilityState}) => visibilityState === 'visible')) return;
  await registration.showNotification(title, {tag: title, ...options});
}

async function syncOnce(open) {
  const store = await open();
  let timer;
  const late = new Promise(resolve => { timer = setTimeout(resolve, syncMilliseconds); });
  try {
    await Promise.race([store.sync(), late]);
  } finally {
    clearTimeout(timer);
    store.close();
  }
}

const windowsOf = () => clients.matchAll({type: 'window', includeUncontrolled: true});
