// @ts-check
/** Type-checks the ```ts blocks of every package's README inside that package, so that what a newcomer copies compiles. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const block = /^```(?:ts|typescript)\n([\s\S]*?)^```/gm;

/** @param {string} markdown @returns {string[]} */
export function snippetsOf(markdown) {
  return [...markdown.matchAll(block)].map(([, code = '']) => code);
}

/** @param {string} root @returns {string[]} findings */
export function checkReadmes(root) {
  const folders = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  );
  return folders.flatMap((folder) => {
    const readme = join(folder, 'README.md');
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) return [];
    if (!existsSync(readme))
      return JSON.parse(readFileSync(manifest, 'utf8')).private ? [] : [`${folder} has no README.md`];
    return compile(root, folder, snippetsOf(readFileSync(readme, 'utf8')));
  });
}

/** @param {string} root @param {string} folder @param {string[]} snippets */
function compile(root, folder, snippets) {
  if (snippets.length === 0) return [];
  const place = join(folder, 'readme-check');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  try {
    snippets.forEach((code, index) => writeFileSync(join(place, `snippet-${index + 1}.ts`), `${code}\nexport {};\n`));
    const compilerOptions = {
      noEmit: true,
      composite: false,
      declaration: false,
      declarationMap: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      rootDir: '..',
    };
    writeFileSync(
      join(place, 'tsconfig.json'),
      JSON.stringify({ extends: '../../../tsconfig.base.json', compilerOptions, include: ['.'] }),
    );
    const result = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', place, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return result.status === 0
      ? []
      : `${result.stdout}${result.stderr}`
          .trim()
          .split('\n')
          .map((line) => `README of ${folder.slice(root.length + 1)}: ${line}`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
