// The values of fields, brought to the form of the wire.

export function fieldsToSend(fields) {
  // From entries, so that no name of a field has a meaning of its own.
  return Object.fromEntries(Object.entries(fields ?? {})
    .map(([name, field]) => [name, fieldToSend(field)]));
}

/**
 * Dates and large integers are no JSON: they leave as milliseconds and as digits, with their type.
 */
function fieldToSend(field) {
  const value = field?.value;
  const isList = Array.isArray(value);
  const first = isList ? value[0] : value;
  const [type, form] = first instanceof Date ? ['TIMESTAMP', date => date.getTime()]
    : typeof first === 'bigint' ? ['INT64', String] : [];
  if (!type) return field;
  return {
    type: isList ? `${type}_LIST` : type, ...field,
    value: isList ? value.map(form) : form(value),
  };
}
