// @ts-check
/** Reads every import of a TypeScript file, types and dynamic ones included, from its syntax tree. */
import { parseSync, Visitor } from 'oxc-parser';

/**
 * @typedef {{ specifier: string, typeOnly: boolean, line: number }} Import
 * @param {string} fileName only its ending matters (ts or tsx)
 * @param {string} source
 * @returns {Import[]}
 */
export function importsOf(fileName, source) {
  const parsed = parseSync(fileName, source);
  if (parsed.errors.length > 0) throw new Error(`${fileName}: ${parsed.errors[0]?.message}`);
  /** @type {Import[]} */
  const found = [];
  const lineOf = (/** @type {number} */ offset) => source.slice(0, offset).split('\n').length;
  const add = (/** @type {any} */ literal, /** @type {boolean} */ typeOnly) => {
    if (typeof literal?.value === 'string')
      found.push({ specifier: literal.value, typeOnly, line: lineOf(literal.start) });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source, node.importKind === 'type'),
    ExportNamedDeclaration: (node) => add(node.source, node.exportKind === 'type'),
    ExportAllDeclaration: (node) => add(node.source, node.exportKind === 'type'),
    ImportExpression: (node) => add(node.source, false),
    TSImportType: (node) => add(node.source, true),
  }).visit(parsed.program);
  return found;
}
