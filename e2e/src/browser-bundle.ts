import { builtinModules } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { build, type Plugin } from 'vite';

/** A browser has no modules of Node, and a page should not carry stand-ins for them. */
const refuseNode: Plugin = {
  name: 'refuse-node',
  enforce: 'pre',
  resolveId(id, importer) {
    if (id.startsWith('node:') || builtinModules.includes(id)) throw new Error(`${importer} imports ${id}`);
  },
};

/** Bundles a module for a browser, without polyfills. The bundle sets the global `bundle` to what the module exports. */
export async function bundleForBrowser(directory: string, entry: string): Promise<string> {
  const results = await build({
    configFile: false,
    root: directory,
    logLevel: 'silent',
    plugins: [refuseNode],
    build: { write: false, minify: false, lib: { entry, formats: ['iife'], name: 'bundle' } },
  });
  const [result] = Array.isArray(results) ? results : [results];
  if (result === undefined || !('output' in result)) throw new Error('the bundler gave no output');
  return result.output[0].code;
}

/** Runs a bundle where there is the language and what every browser has, and nothing of Node; answers what `expression` gives. */
export function runLikeBrowser(bundle: string, expression: string): unknown {
  const context = createContext({ TextEncoder, TextDecoder, URL });
  return runInContext(`${bundle}\n;${expression}`, context);
}
