// Keeps schemas/*.json, the published shape of every DTO and frame.
//   node scripts/schemas.mjs check   fails if the code and the committed files differ, naming what breaks other versions
//   node scripts/schemas.mjs write   writes the files; refuses a breaking change unless a changeset of this package is major
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareSchemas, generateSchemas, publishedSchemas } from '../dist/compatibility.js';

const packageDirectory = join(dirname(fileURLToPath(import.meta.url)), '..');
const schemaDirectory = join(packageDirectory, 'schemas');
const changesetDirectory = join(packageDirectory, '..', '..', '.changeset');

const text = (schema) => `${JSON.stringify(schema, null, 2)}\n`;

function readCommitted() {
  if (!existsSync(schemaDirectory)) return {};
  const names = readdirSync(schemaDirectory).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(
    names.map((name) => [name.replace('.json', ''), JSON.parse(readFileSync(join(schemaDirectory, name), 'utf8'))]),
  );
}

function findChanges(committed, generated) {
  const published = publishedSchemas();
  const names = [...new Set([...Object.keys(committed), ...Object.keys(generated)])].sort();
  return names.flatMap((name) => {
    if (generated[name] === undefined) return [{ name, path: '', what: 'the schema was removed', breaking: true }];
    if (committed[name] === undefined) return [{ name, path: '', what: 'the schema is new', breaking: false }];
    if (text(committed[name]) === text(generated[name])) return [];
    const changes = compareSchemas(committed[name], generated[name], published[name].direction);
    const named = changes.map((change) => ({ name, ...change }));
    return named.length > 0 ? named : [{ name, path: '', what: 'the text differs', breaking: false }];
  });
}

function mayBreak() {
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'));
  if (version === '0.0.0') return true;
  const files = existsSync(changesetDirectory) ? readdirSync(changesetDirectory) : [];
  return files
    .filter((name) => name.endsWith('.md'))
    .some((name) =>
      /^['"]?@stint\/contracts['"]?:\s*major\s*$/m.test(readFileSync(join(changesetDirectory, name), 'utf8')),
    );
}

function write(committed, generated) {
  mkdirSync(schemaDirectory, { recursive: true });
  for (const name of Object.keys(committed)) if (!(name in generated)) rmSync(join(schemaDirectory, `${name}.json`));
  for (const [name, schema] of Object.entries(generated)) {
    writeFileSync(join(schemaDirectory, `${name}.json`), text(schema));
  }
}

const mode = process.argv[2];
if (mode !== 'check' && mode !== 'write') {
  console.error('Say what to do: schemas.mjs check | write');
  process.exit(2);
}
const committed = readCommitted();
const generated = generateSchemas();
const changes = findChanges(committed, generated);
for (const change of changes) {
  console.error(`${change.breaking ? 'BREAKING' : 'changed '} ${change.name}${change.path}: ${change.what}`);
}
const breaking = changes.some((change) => change.breaking);
if (mode === 'check') {
  if (changes.length > 0) console.error('Run `pnpm --filter @stint/contracts contracts:write` and commit schemas/.');
  else console.log(`contracts: ${Object.keys(generated).length} schemas are as committed`);
  process.exitCode = changes.length > 0 ? 1 : 0;
} else if (breaking && !mayBreak()) {
  console.error(
    'These changes break released versions. Keep the old shape, or add a major changeset for @stint/contracts.',
  );
  process.exitCode = 1;
} else {
  write(committed, generated);
  console.log(`contracts: wrote ${Object.keys(generated).length} schemas`);
}
