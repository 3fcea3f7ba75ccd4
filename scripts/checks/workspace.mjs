// @ts-check
/** The packages of the workspace, as their manifests describe them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ folder: string, name: string, manifest: any }} WorkspacePackage */

/** @param {string} root @returns {WorkspacePackage[]} of packages/ and apps/, private ones included */
export function workspacePackages(root) {
  return ['packages', 'apps']
    .filter((group) => existsSync(join(root, group)))
    .flatMap((group) => readdirSync(join(root, group)).map((name) => join(root, group, name)))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }))
    .map(({ folder, manifest }) => ({ folder, name: manifest.name, manifest }));
}

/** @param {string} root @returns {WorkspacePackage[]} */
export function publishedPackages(root) {
  return workspacePackages(root).filter(({ manifest }) => !manifest.private);
}
