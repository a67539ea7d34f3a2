// openapi-typescript with the compiler API that it is written for: the TypeScript that compiles this project has
// another one, so what it imports as `typescript` is the copy in @ts-morph/common.
//
//   node generate.mjs openapi.json -o schema.d.ts
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

const compilerUrl = new URL('compiler.mjs', import.meta.url).href;
const hook = `export const resolve = (name, context, next) => next(name === 'typescript' ? '${compilerUrl}' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`, pathToFileURL('./'));
await import(new URL('../../node_modules/openapi-typescript/bin/cli.js', import.meta.url).href);
