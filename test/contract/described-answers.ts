import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/ingress/openapi.ts';
import { operations } from '../../src/operations.ts';
import { onExchange } from '../support/exchange-log.ts';

interface Content {
  content?: Record<string, { schema: { $ref: string } }>;
}
interface Described {
  operationId: string;
  responses: Record<string, Content & { $ref?: string }>;
}
interface Route {
  method: string;
  path: RegExp;
  operation: Described;
}

/** What was answered and how that differs from the API description. */
export interface AnswerReport {
  /** Names of the operations that answered with success. */
  succeeded: Set<string>;
  /** `operation: names` of what requests held and nobody knew, as the answers said. */
  ignored: Set<string>;
  /** `operation status place: what is wrong there`, each once. */
  differences: Set<string>;
}

const BASE = /^(?:https?:\/\/[^/]+)?(?:\/api\/v1)?/;
const JSON_TYPE = 'application/json';

/**
 * Holds every JSON answer of this test file against the service's own API description, by a validator that others
 * wrote. Fields that the description does not name are differences too, though it does not forbid them to clients.
 */
export function watchAnswers(): AnswerReport {
  const document = closed(openApiDocument(operations, { url: '/api/v1', version: '1' })) as {
    paths: Record<string, Record<string, Described>>;
    components: { responses: Record<string, Content> };
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document, 'api');
  const routes = routesOf(document.paths);
  const validators = new Map<string, ValidateFunction>();
  const report: AnswerReport = { succeeded: new Set(), ignored: new Set(), differences: new Set() };
  onExchange(({ method, path, status, responseBody, headers }) => {
    const at = path.replace(BASE, '').split('?')[0]!;
    const operation = routes.find((route) => route.method === method && route.path.test(at))?.operation;
    if (!operation) return;
    if (status === 200) report.succeeded.add(operation.operationId);
    const names = headers['x-svc-ignored'] ?? headers['x-lago-ignored'];
    if (names !== undefined) report.ignored.add(`${operation.operationId}: ${names}`);
    if (typeof responseBody === 'string') return;
    const answer = operation.responses[status];
    const { content } = (answer?.$ref ? document.components.responses[answer.$ref.split('/').at(-1)!] : answer) ?? {};
    const reference = content?.[JSON_TYPE]?.schema.$ref;
    if (!reference) return void report.differences.add(`${operation.operationId} ${status}: not described`);
    const validate = validators.get(reference) ?? ajv.compile({ $ref: `api${reference}` });
    validators.set(reference, validate);
    if (!validate(responseBody))
      for (const error of validate.errors!) report.differences.add(`${operation.operationId} ${status} ${told(error)}`);
  });
  return report;
}

const told = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath.replace(/\/\d+(?=\/|$)/g, '/*')}: ${message} ${JSON.stringify(params)}`;

/** Routes as they are looked for: those without parameters first. */
function routesOf(paths: Record<string, Record<string, Described>>): Route[] {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      parameters: path.split('{').length,
      operation,
    })),
  );
  return routes.sort((a, b) => a.parameters - b.parameters);
}

/** The same schemas, with objects of no more fields than they name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const isObjectSchema = copy.type === 'object' && typeof copy.properties === 'object';
  return isObjectSchema && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}
