// Makes the files that are handed out from the modules in src/:
//
//   cloudkit.js     one ES module
//   store.js        one more, the store that syncs
//   elements.js     one more, the elements
//   ../../Console/share-sheet.js  the one element that the server's console takes
//   cloudkit.cjs    for classic scripts, which get the global CloudKit, and for require()
//   cloudkit.d.cts  the declarations of cloudkit.d.ts as those two have them
//
// `node build.mjs` writes them, `node build.mjs --check` fails where they are not up to date. A
// module here imports by `import {names} from './file.js'` and exports declarations, so that all
// can stand in one scope.

import {readFileSync, writeFileSync} from 'node:fs';
import {posix} from 'node:path';

const here = name => new URL(name, import.meta.url);
const read = name => readFileSync(here(name), 'utf8');
const importLine = /^import \{[^}]*\} from '(\.\.?\/[\w/-]+\.js)';\n/gm;

/** The modules that an entry needs, each after those that it imports. */
function modules(name, found = new Map(), above = []) {
  if (above.includes(name)) throw new Error(`modules import each other: ${[...above, name]}`);
  if (found.has(name)) return found;
  const text = read(`src/${name}`);
  for (const [, imported] of text.matchAll(importLine)) {
    modules(posix.join(posix.dirname(name), imported), found, [...above, name]);
  }
  return found.set(name, text);
}

/** A module without its imports, exports and comments. */
function plain(name, text) {
  const code = text.replace(importLine, '')
    .replace(/^export (?=(async )?(class|const|function) )/gm, '')
    .replace(/^export .*;\n/gm, '')
    .replace(/^ *\/\*\*[^]*?\*\/\n/gm, '').replace(/^ *\/\/.*\n/gm, '').trim();
  if (/^(import|export) /m.test(code)) throw new Error(`${name} has an import of another form`);
  return `// ${name}\n${code}\n`;
}

function checkNames(code) {
  const names = [...code.matchAll(
    /^(?:async )?(?:class|function|const|let) (?:\{([^}]*)\}|(\w+))/gm)]
    .flatMap(([, many, one]) => many?.match(/\w+/g) ?? [one]);
  const double = names.filter((name, index) => names.indexOf(name) !== index);
  if (double.length > 0) throw new Error(`declared by several modules: ${double}`);
}

const {version, license} = JSON.parse(read('package.json'));
if (!read('src/version.js').includes(`'${version}'`)) throw new Error('src/version.js differs');
/** What an entry and all that it needs make together. */
function joined(entry) {
  const code = [...modules(entry)].map(([name, text]) => plain(name, text)).join('\n');
  checkNames(code);
  return code;
}

const code = joined('cloudkit.js');
const head = `// The JavaScript client of Lenticular ${version}, ${license}.\n` +
  '// Made from the modules in src/ by build.mjs.\n';

const module = `${head}/* @ts-self-types="./cloudkit.d.ts" */\n\n${code}
export {CloudKit, CKError};
export default CloudKit;
`;

const store = `${head}/* @ts-self-types="./store.d.ts" */\n\n${joined('store/store.js')}
export {LenticularStore, StoreError, mergeByField, syncOnPush};
`;

const elements = `${head}/* @ts-self-types="./elements.d.ts" */

${joined('elements/elements.js')}
export {ShareFrame, SharePage, ShareSheet, SignInButton, englishTexts, shareSource};
`;

const sheet = `${head}
${joined('elements/console.js')}`;

const classic = `${head}(() => {
'use strict';

${code.replace('import.meta.url',
    "typeof document === 'undefined' ? undefined : document.currentScript?.src")}
if (typeof module === 'object' && module.exports) {
  module.exports = CloudKit;
} else {
  globalThis.CloudKit = CloudKit;
  globalThis.dispatchEvent?.(new Event(CloudKit.CLOUDKIT_LOADED));
}
})();
`;

const [types, values] = read('cloudkit.d.ts').split('// Values\n');
if (values === undefined) throw new Error("cloudkit.d.ts has no line '// Values'");
const declarations = `declare namespace CloudKit {
${types.replace(/^(?=.)/gm, '  ')}}

declare const CloudKit: CloudKit.CloudKitStatic;
export = CloudKit;
export as namespace CloudKit;
`;

const isCheck = process.argv.includes('--check');
for (const [name, text] of [
  ['cloudkit.js', module], ['cloudkit.cjs', classic], ['cloudkit.d.cts', declarations],
  ['store.js', store], ['elements.js', elements], ['../../Console/share-sheet.js', sheet],
]) {
  if (!isCheck) writeFileSync(here(name), text);
  else if (read(name) !== text) {
    console.error(`${name} is not what node build.mjs makes of src/`);
    process.exitCode = 1;
  }
}
