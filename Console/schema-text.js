// The schema language as the console needs it: the server's own text read into types, and written again. What is right
// in it decides the server.

const RESERVED = new Set(['GRANT', 'PREFERRED', 'QUERYABLE', 'SORTABLE', 'SEARCHABLE']);
export const INDEXES = ['QUERYABLE', 'SEARCHABLE', 'SORTABLE'];
export const PERMISSIONS = ['READ', 'CREATE', 'WRITE'];
/// Of every schema, in the words that people read.
export const ROLES = {_world: 'Everybody', _icloud: 'Signed in', _creator: 'Who made it'};
export const TYPES = ['STRING', 'INT64', 'DOUBLE', 'TIMESTAMP', 'REFERENCE', 'ASSET', 'LOCATION', 'BYTES', 'NUMBER'];

const plain = name => name.replace(/^"|"$/g, '');
const quoted = name => name.startsWith('_') || name.includes('.') || RESERVED.has(name.toUpperCase()) ? `"${name}"` : name;

/// Types with their fields and grants, and the container's own roles, as `schema export` writes them.
export function read(text) {
  const schema = {types: [], roles: []};
  let type = null;
  for (const line of text.split('\n')) {
    const words = line.trim().replace(/[,;]$/, '');
    const head = /^RECORD TYPE (\S+) \($/.exec(words);
    const role = /^CREATE ROLE (\S+)$/.exec(words);
    const grant = /^GRANT (.+) TO (\S+)$/.exec(words);
    const field = /^(\S+)\s+(.+)$/.exec(words);
    if (head) schema.types.push(type = {name: plain(head[1]), fields: [], grants: {}});
    else if (role) schema.roles.push(plain(role[1]));
    else if (words === ')') type = null;
    else if (type && grant) type.grants[plain(grant[2])] = grant[1].split(', ');
    else if (type && field) {
      const parts = field[2].split(/ (?=(?:QUERYABLE|SEARCHABLE|SORTABLE)(?: |$))/);
      type.fields.push({name: plain(field[1]), type: parts[0], indexes: parts.slice(1)});
    }
  }
  return schema;
}

/// The text again, which the server reads.
export function write({types, roles}) {
  const lines = ['DEFINE SCHEMA', ...roles.flatMap(role => ['', `    CREATE ROLE ${quoted(role)};`])];
  for (const {name, fields, grants} of types) {
    const items = [
      ...fields.map(({name, type, indexes}) => [quoted(name), type, ...indexes].join(' ')),
      ...Object.entries(grants).filter(([, granted]) => granted.length > 0).map(
        ([role, granted]) => `GRANT ${granted.join(', ')} TO ${quoted(role)}`)];
    lines.push('', `    RECORD TYPE ${quoted(name)} (`, items.map(item => `        ${item}`).join(',\n'), '    );');
  }
  return `${lines.join('\n')}\n`;
}

/// Where a text is wrong, as a refusal says it; null for a refusal of another kind.
export function mistake(failure) {
  const found = /line (\d+), column (\d+): (.+)$/.exec(failure?.message ?? '');
  return found && {line: Number(found[1]), column: Number(found[2]), what: found[3]};
}
