// JSON whose whole numbers stay as they were written where a double does not hold them, and are sent so again.

const exact = (key, value, context) => typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value) &&
  context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value;

export const parse = text => JSON.parse(text, exact);
