// @ts-check
/**
 * The floors: imports only go down, types too. For every package it checks that
 * 1. each `@stint/*` import is in the package's row of floors.json, and that row only names lower floors;
 * 2. no relative import leaves the package's folder;
 * 3. no files of a package import each other in a circle, types included;
 * 4. whatever else is imported is declared in the package's package.json;
 * 5. packages of model providers are imported by provider-hooks alone.
 * Tests, and what exists for tests, may import anything declared that is not above them.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { importsOf } from './imports.mjs';

const forTests = /\.(test|fixture)\.|\/(testing|fixtures|test-support)[/.-]/;
const providerPackage = /^@ai-sdk\/(?!provider)/;

/** @typedef {{ name: string, folder: string, floor: number, mayImport: string[], mayImportTypes: string[], declared: Set<string>, dev: Set<string> }} Package */

/** @param {string} root @returns {string[]} findings, empty when all is well */
export function checkFloors(root) {
  const table = JSON.parse(readFileSync(join(root, 'floors.json'), 'utf8'));
  const packages = findPackages(root, table);
  const ofTests = devDependenciesOf(root);
  return [...packages.values()].flatMap((owner) => [
    ...checkRow(owner, packages),
    ...sourcesOf(owner).flatMap((file) => checkFile(root, file, owner, { packages, ofTests })),
    ...findCycles(root, owner),
  ]);
}

/** @param {string} root @param {Record<string, any>} table */
function findPackages(root, table) {
  /** @type {Map<string, Package>} */
  const packages = new Map();
  for (const group of ['packages', 'apps']) {
    if (!existsSync(join(root, group))) continue;
    for (const name of readdirSync(join(root, group))) {
      const folder = join(root, group, name);
      if (!existsSync(join(folder, 'package.json'))) continue;
      const row = table[name];
      if (!row)
        throw new Error(
          `floors.json has no row for "${name}" (${group}/${name}); give it a floor and what it may import`,
        );
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      packages.set(name, {
        name,
        folder,
        floor: row.floor,
        mayImport: row.mayImport,
        mayImportTypes: row.mayImportTypes ?? [],
        declared: new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })),
        dev: new Set(Object.keys(manifest.devDependencies ?? {})),
      });
    }
  }
  return packages;
}

/** @param {Package} owner @param {Map<string, Package>} packages */
function checkRow(owner, packages) {
  return [...owner.mayImport, ...owner.mayImportTypes].flatMap((name) => {
    const target = packages.get(name);
    if (!target) return [];
    const beside = name === 'simulator';
    return target.floor < owner.floor || beside
      ? []
      : [
          `floors.json: ${owner.name} (floor ${owner.floor}) may not list ${name} (floor ${target.floor}): imports only go down`,
        ];
  });
}

/** @param {Package} owner */
function sourcesOf(owner) {
  return listFiles(join(owner.folder, 'src')).filter((file) => /\.tsx?$/.test(file));
}

/** @param {string} folder @returns {string[]} */
function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

/** What the workspace's own package.json gives to every test, such as the runner. @param {string} root */
function devDependenciesOf(root) {
  const manifest = join(root, 'package.json');
  return new Set(
    existsSync(manifest) ? Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).devDependencies ?? {}) : [],
  );
}

/** @typedef {{ packages: Map<string, Package>, ofTests: Set<string> }} Workspace */

/** @param {string} root @param {string} file @param {Package} owner @param {Workspace} workspace */
function checkFile(root, file, owner, workspace) {
  return importsOf(file, readFileSync(file, 'utf8')).flatMap((found) => {
    const problem = judge(file, found, owner, workspace);
    return problem ? [`${relative(root, file)}:${found.line}: ${problem}`] : [];
  });
}

/** @param {string} file @param {import('./imports.mjs').Import} found @param {Package} owner @param {Workspace} workspace */
function judge(file, { specifier, typeOnly }, owner, { packages, ofTests }) {
  if (specifier.startsWith('.')) {
    const inside = !relative(owner.folder, resolve(dirname(file), specifier)).startsWith('..');
    return inside ? undefined : `"${specifier}" leaves the package; import @stint/<package> instead`;
  }
  const name = packageNameOf(specifier);
  if (specifier.startsWith('node:') || builtinModules.includes(name)) return undefined;
  if (name === `@stint/${owner.name}`) return undefined;
  const tests = forTests.test(file);
  if (name.startsWith('@stint/')) return judgeSibling(name.slice('@stint/'.length), typeOnly, tests, owner, packages);
  if (providerPackage.test(name) && owner.name !== 'provider-hooks' && !tests)
    return `"${name}" belongs to a model provider; only provider-hooks imports those`;
  const declared =
    owner.declared.has(name) ||
    (tests && ofTests.has(name)) ||
    ((tests || typeOnly || owner.name === 'web') && owner.dev.has(name)) ||
    owner.dev.has(`@types/${name}`);
  return declared ? undefined : `"${name}" is not declared in ${owner.name}'s package.json`;
}

/** @param {string} name @param {boolean} typeOnly @param {boolean} tests @param {Package} owner @param {Map<string, Package>} packages */
function judgeSibling(name, typeOnly, tests, owner, packages) {
  const target = packages.get(name);
  if (!target) return `there is no package "@stint/${name}"`;
  if (owner.mayImport.includes(name) || (typeOnly && owner.mayImportTypes.includes(name))) return undefined;
  if (tests && target.floor <= owner.floor) return undefined;
  const direction = target.floor > owner.floor ? 'goes up' : 'is not allowed';
  return `import of @stint/${name} (floor ${target.floor}) from ${owner.name} (floor ${owner.floor}) ${direction}; it may import: ${owner.mayImport.join(', ') || 'no sibling'}`;
}

/** @param {string} specifier */
function packageNameOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Depth-first search over the relative imports of one package. @param {string} root @param {Package} owner */
function findCycles(root, owner) {
  const files = new Set(sourcesOf(owner));
  /** @type {Map<string, 'open' | 'done'>} */
  const state = new Map();
  /** @type {string[]} */
  const findings = [];
  const visit = (/** @type {string} */ file, /** @type {string[]} */ path) => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      const circle = [...path.slice(path.indexOf(file)), file].map((one) => relative(root, one));
      findings.push(`imports in a circle: ${circle.join(' -> ')}`);
      return;
    }
    state.set(file, 'open');
    for (const next of relativeTargets(file, files)) visit(next, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of files) visit(file, []);
  return findings;
}

/** @param {string} file @param {Set<string>} files */
function relativeTargets(file, files) {
  return importsOf(file, readFileSync(file, 'utf8'))
    .filter(({ specifier }) => specifier.startsWith('.'))
    .flatMap(({ specifier }) => {
      const base = resolve(dirname(file), specifier).replace(/\.jsx?$/, '');
      return ['.ts', '.tsx'].map((ending) => base + ending).filter((candidate) => files.has(candidate));
    });
}
