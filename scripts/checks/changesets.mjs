// @ts-check
/** Every published package that has no CHANGELOG.md yet must be named by a changeset, so that its first version says what it brings. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages } from './workspace.mjs';

const bump = /^["'](@[\w-]+\/[\w-]+)["']:\s*(?:major|minor|patch)\s*$/gm;

/** @param {string} root @returns {string[]} findings */
export function checkChangesets(root) {
  const texts = readdirSync(join(root, '.changeset'))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => readFileSync(join(root, '.changeset', name), 'utf8'));
  const named = new Set(texts.flatMap((text) => [...text.matchAll(bump)].map(([, name]) => name)));
  return publishedPackages(root)
    .filter(({ folder, name }) => !existsSync(join(folder, 'CHANGELOG.md')) && !named.has(name))
    .map(
      ({ name }) =>
        `${name} is new and no changeset names it; add .changeset/<name>.md with "${name}": minor and one sentence`,
    );
}
