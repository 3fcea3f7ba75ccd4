// @ts-check
/** Type-checks the ```ts blocks of every package's README inside that package, so that what a newcomer copies compiles. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { mapParallel, tool } from './tool.mjs';
import { workspacePackages } from './workspace.mjs';

const block = /^```(?:ts|typescript)\n([\s\S]*?)^```/gm;

/** @typedef {{ code: string, line: number }} Snippet the README's line before its first line of code */

/** @param {string} markdown @returns {Snippet[]} */
export function snippetsOf(markdown) {
  return [...markdown.matchAll(block)].map(({ 1: code = '', index }) => ({
    code,
    line: markdown.slice(0, index).split('\n').length,
  }));
}

/** @param {string} root @returns {Promise<string[]>} findings */
export async function checkReadmes(root) {
  const findings = await mapParallel(workspacePackages(root), 2, ({ folder, manifest }) =>
    checkReadme(root, folder, manifest),
  );
  return [...checkRootReadme(root), ...findings.flat()];
}

/** The whole workspace is no package that an example could import. @param {string} root */
function checkRootReadme(root) {
  const readme = join(root, 'README.md');
  if (!existsSync(readme)) return ['README.md is missing'];
  return snippetsOf(readFileSync(readme, 'utf8')).map(
    ({ line }) =>
      `README.md:${line}: an example in TypeScript belongs into the README of its package, where it is compiled`,
  );
}

/** @param {string} root @param {string} folder @param {{ private?: boolean }} manifest @returns {Promise<string[]>} */
async function checkReadme(root, folder, manifest) {
  const readme = join(folder, 'README.md');
  if (!existsSync(readme)) return manifest.private ? [] : [`${relative(root, folder)} has no README.md`];
  const snippets = snippetsOf(readFileSync(readme, 'utf8'));
  return snippets.length === 0 ? [] : await compile(root, folder, snippets);
}

/** Each snippet is a module of its own, in a folder inside the package: its imports resolve as those of the package's tests do. */
const compilerOptions = {
  noEmit: true,
  composite: false,
  declaration: false,
  declarationMap: false,
  noUnusedLocals: false,
  noUnusedParameters: false,
  rootDir: '..',
};

/** @param {string} root @param {string} folder @param {Snippet[]} snippets */
async function compile(root, folder, snippets) {
  const place = join(folder, 'readme-check');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  try {
    for (const { code, line } of snippets) writeFileSync(join(place, `line-${line}.ts`), `${code}\nexport {};\n`);
    const extended = relative(place, join(root, 'tsconfig.base.json'));
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ extends: extended, compilerOptions, include: ['.'] }));
    const printed = await tool(root, 'tsc', ['-p', place, '--pretty', 'false'], folder);
    return printed.flatMap((text) => text.split('\n')).map((line) => inReadme(line, relative(root, folder)));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** `readme-check/line-12.ts(3,5): error ...` is line 15 of the README. @param {string} message @param {string} folder */
function inReadme(message, folder) {
  return message.replace(
    /^.*line-(\d+)\.ts\((\d+),\d+\):/,
    (_, before, line) => `${folder}/README.md:${Number(before) + Number(line)}:`,
  );
}
