// The names that apps know: CloudKit, with its configuration, its containers and its constants.

import {containerOf, servicesOf} from './configuration.js';
import {Container} from './container.js';
import {constants} from './enums.js';
import {CKError, localError} from './errors.js';
import {uniqueID} from './unique.js';
import {version} from './version.js';

let containers = [];
let services = servicesOf();

const errorCodes = Object.fromEntries(
  Object.entries(CKError).filter(([, code]) => typeof code === 'string'));

const {NotificationType, QueryNotificationReason, ...published} = constants;

export const CloudKit = {
  ...published,
  ...NotificationType,
  ...QueryNotificationReason,
  VERSION: version,
  BUILD_VERSION: version,
  CKError,
  CKErrorCode: Object.freeze(errorCodes),
  /** Whether what goes on is written to the console, where no logger is configured. */
  logToConsole: false,

  get Promise() { return services.Promise; },

  /** Takes the place of what was configured before. Throws CONFIGURATION_ERROR. */
  configure(configuration) {
    const given = configuration?.containers;
    if (!Array.isArray(given) || given.length === 0) {
      throw localError('CONFIGURATION_ERROR', 'configure() needs containers');
    }
    const chosen = servicesOf(configuration.services);
    const {clientId = uniqueID(), serverURL} = configuration;
    const shared = {clientId, serverURL};
    const complete = given.map(container => containerOf(container, shared));
    containers.forEach(container => container.close());
    services = chosen;
    containers = complete.map((each, index) => new Container(given[index], each, chosen, log));
    return CloudKit;
  },

  getDefaultContainer() {
    if (containers.length === 0) {
      throw localError('CONFIGURATION_ERROR', 'call CloudKit.configure() first');
    }
    return containers[0];
  },

  getContainer(containerIdentifier) {
    return containers.find(container => container.containerIdentifier === containerIdentifier);
  },

  getAllContainers() { return [...containers]; },
};

function log(level, text) {
  const logger = services.logger ?? (CloudKit.logToConsole ? console : undefined);
  logger?.[level]?.(text);
}

export {CKError};
export default CloudKit;
