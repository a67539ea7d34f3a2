import type { Request } from 'express';
import type { Operation } from '../platform/operation.ts';
import { refuse } from '../platform/refusal.ts';
import { refuseIssues } from '../platform/schema/field-errors.ts';
import { isStorable } from '../platform/schema/storable.ts';
import type { Query } from './read-query.ts';

/**
 * Path parameters of a request, decoded.
 *
 * @throws Refusal 404 of what a parameter names, when Postgres cannot store such a text (json.md)
 */
export function readParams(operation: Operation, request: Request): Record<string, string> {
  const params = request.params as Record<string, string>;
  for (const [name, value] of Object.entries(params)) {
    if (!isStorable(value)) throw refuse.notFound(resourceOf(operation.path, name));
  }
  return { ...params };
}

/**
 * Parses a query and a body with the operation's schemas.
 *
 * @throws Refusal 400 without the root key, 422 with the codes of the fields
 */
export const readInput = (operation: Operation, query: Query, body: unknown): { query: unknown; body: unknown } => ({
  query: parseQuery(operation.query, query),
  body: parseRoot(operation, body),
});

/** Resource that a path parameter names: the singular of the segment before it. */
function resourceOf(path: string, param: string): string {
  const segments = path.split('/');
  const plural = segments[segments.indexOf(`:${param}`) - 1] ?? 'route';
  return plural
    .replace(/ies$/, 'y')
    .replace(/(x|ch|s)es$/, '$1')
    .replace(/s$/, '');
}

function parseQuery(schema: Operation['query'], value: Query): unknown {
  if (!schema) return {};
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw refuseIssues(parsed.error, { isQuery: true });
  return parsed.data;
}

function parseRoot(operation: Operation, raw: unknown): unknown {
  if (!operation.body) return undefined;
  if (raw === undefined && operation.bodyOptional) return undefined;
  const value =
    operation.root === undefined ? (raw ?? {}) : rootOf(operation.root, raw, operation.bodyOptional ?? false);
  if (value === undefined) return undefined;
  const parsed = operation.body.safeParse(value);
  if (!parsed.success) throw refuseIssues(parsed.error);
  return parsed.data;
}

function rootOf(root: string, raw: unknown, optional: boolean): unknown {
  const value = isObject(raw) ? raw[root] : undefined;
  if (isObject(value) && Object.keys(value).length > 0) return value;
  if (optional && (value === undefined || value === null)) return undefined;
  throw refuse.missingRoot(root);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
