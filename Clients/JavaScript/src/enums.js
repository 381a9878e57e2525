// The constants that apps compare with. Where no value is written, it is the name itself.

const named = (...names) => Object.freeze(Object.fromEntries(names.map(name => [name, name])));
const withNegations = names => names.flatMap(name => [name, `NOT_${name}`]);

export const constants = {
  DEVELOPMENT_ENVIRONMENT: 'development',
  PRODUCTION_ENVIRONMENT: 'production',
  CLOUDKIT_LOADED: 'cloudkitloaded',
  WS_API_VERSION: '1',
  DatabaseScope: named('PUBLIC', 'PRIVATE', 'SHARED'),
  QueryFilterComparator: named(
    ...withNegations(['EQUALS', 'IN', 'BEGINS_WITH', 'LIST_CONTAINS', 'LIST_CONTAINS_ANY',
      'LIST_CONTAINS_ALL', 'LIST_MEMBER_BEGINS_WITH']),
    'LESS_THAN', 'LESS_THAN_OR_EQUALS', 'GREATER_THAN', 'GREATER_THAN_OR_EQUALS', 'NEAR',
    'CONTAINS_ALL_TOKENS', 'CONTAINS_ANY_TOKENS'),
  ReferenceAction: named('NONE', 'DELETE_SELF', 'VALIDATE'),
  ShareParticipantAcceptanceStatus: named('UNKNOWN', 'PENDING', 'ACCEPTED'),
  ShareParticipantPermission: named('UNKNOWN', 'NONE', 'READ_ONLY', 'READ_WRITE'),
  ShareParticipantType: named('UNKNOWN', 'OWNER', 'PRIVATE_USER', 'PUBLIC_USER'),
  SubscriptionType: Object.freeze({QUERY: 'query', RECORD_ZONE: 'zone', DATABASE: 'database'}),
  ShareRecordType: Object.freeze({
    NAME: 'cloudkit.share', TITLE_FIELD_NAME: 'cloudkit.title',
    TYPE_FIELD_NAME: 'cloudkit.type',
    THUMBNAIL_IMAGE_DATA_FIELD_NAME: 'cloudkit.thumbnailImageData',
  }),
  AppleIDButtonTheme: Object.freeze({
    BLACK: 'black', WHITE: 'white', WHITE_WITH_OUTLINE: 'white-with-outline',
  }),
  NotificationType: named('NOTIFICATION_TYPE_QUERY', 'NOTIFICATION_TYPE_RECORD_ZONE'),
  QueryNotificationReason: named(
    'QUERY_NOTIFICATION_REASON_RECORD_CREATED', 'QUERY_NOTIFICATION_REASON_RECORD_UPDATED',
    'QUERY_NOTIFICATION_REASON_RECORD_DELETED'),
};
