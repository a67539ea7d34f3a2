import {
  extendZodWithOpenApi,
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type RouteConfig,
  type ZodMediaTypeObject,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import type { Operation } from '../platform/operation.ts';
import { ErrorPlaces } from '../platform/schema/error-places.ts';
import { answerExamples } from './body-examples/answer-examples.ts';
import { BODY_EXAMPLES, TEXT_EXAMPLES } from './body-examples/body-examples.ts';
import { CLOUD_EVENT_EXAMPLES } from './body-examples/usage.ts';
import { errorCodesOf } from './error-codes.ts';
import { described, type FieldWords, WORDS } from './field-words/words.ts';
import { HEADERS, headerParameters, responseHeaders, WAITING_HEADERS } from './openapi-headers.ts';
import { pathParameters, queryParameters } from './openapi-query.ts';
import { type OpenApi, recordsOf, withSharedSchemas } from './openapi-schemas.ts';
import { eventWebhooks, providerWebhooks } from './openapi-webhooks.ts';

extendZodWithOpenApi(z);

const ErrorBody = z.object({
  status: z.int(),
  error: z.string(),
  code: z.string().optional(),
  resource: z.string().optional(),
  error_details: z.record(z.string(), z.unknown()).optional(),
  error_places: ErrorPlaces.optional(),
});

/** Refusals that any operation may answer, by status: the name of their component and what they mean. */
const REFUSALS: Record<number, [name: string, description: string]> = {
  400: ['BadRequest', 'Malformed body, or the root key is missing'],
  401: ['Unauthorized', 'No valid API key'],
  403: ['Forbidden', 'The key lacks the permission'],
  404: ['NotFound', 'Not found'],
  405: ['NotAllowed', 'The state forbids it'],
  413: ['TooLarge', 'The body is too large'],
  415: ['UnsupportedMediaType', 'The body is of a type or in a coding that the operation does not take'],
  422: ['Invalid', 'The input is not valid'],
  429: ['TooManyRequests', 'Too many requests in this second'],
  503: ['Unavailable', 'Not at the moment: `Retry-After` says when to try again'],
  504: ['WritePending', 'The write goes on: its Idempotency-Key gets the answer'],
};
const ERROR_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
const OTLP_ERROR_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/OtlpError' } } };
const OtlpErrorBody = z.object({ code: z.int(), message: z.string() });
/** Statuses that say something of the body itself. */
const OF_BODIES = new Set([400, 413, 415]);
const NAMES_CODES = new Set(['Forbidden', 'NotAllowed']);
const waiting = (name: string) => (WAITED_FOR.has(name) ? { headers: WAITING_HEADERS } : {});
const WAITED_FOR = new Set(['TooManyRequests', 'Unavailable']);
/** Statuses whose codes repeat the status. */
const WITHOUT_CODES = new Set([404, 413, 415, 429, 503, 504]);

/**
 * The OpenAPI document of all operations, made from the same table that mounts them: what an API key can call. Routes
 * of the operator, who has a token of another kind, are described in docs/operations.md.
 */
export function openApiDocument(operations: readonly Operation[], facts: { url: string; version: string }): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  registry.registerComponent('schemas', 'Error', travelling(ErrorBody));
  registry.registerComponent('schemas', 'OtlpError', travelling(OtlpErrorBody));
  // The other two always name codes.
  for (const [name, description] of Object.values(REFUSALS).filter(([name]) => !NAMES_CODES.has(name)))
    registry.registerComponent('responses', name, { description, ...waiting(name), content: ERROR_CONTENT });
  for (const operation of operations) if (!operation.hidden) registry.registerPath(routeOf(operation));
  const tags = [...new Set(operations.filter(({ hidden }) => !hidden).map(({ tag }) => tag))].sort();
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Meterstone',
      version: facts.version,
      description: 'Usage-based billing: meters events, prices usage, issues invoices.',
    },
    servers: [{ url: facts.url }],
    security: [{ bearer: [] }],
    tags: tags.map((name) => ({ name, description: `Operations on ${name.replaceAll('_', ' ')}` })),
  });
  const components = { ...document.components, headers: HEADERS };
  const shared = withSharedSchemas({ ...document, components } as unknown as OpenApi);
  return { ...shared, webhooks: { ...eventWebhooks(recordsOf(shared)), ...providerWebhooks() } };
}

function routeOf(operation: Operation): RouteConfig {
  const content =
    operation.body && (operation.root === undefined ? operation.body : z.object({ [operation.root]: operation.body }));
  const body = operation.documentedBody ?? content;
  return {
    method: operation.method,
    path: operation.path.replace(/:(\w+)/g, '{$1}'),
    operationId: operation.name,
    summary: operation.summary,
    description: descriptionOf(operation),
    tags: [operation.tag],
    parameters: [...pathParameters(operation), ...queryParameters(operation), ...headerParameters(operation)],
    request: requestOf(operation, body),
    responses: {
      200: { description: 'Done', headers: responseHeaders(operation), content: answerOf(operation) },
      ...errorsOf(operation),
    },
  };
}

const answerOf = (operation: Operation): Record<string, ZodMediaTypeObject> =>
  operation.fileType
    ? { [operation.fileType]: { schema: { type: 'string', format: 'binary' } } }
    : { 'application/json': { schema: shown(operation), ...answered(operation) } };

/** What was answered to the example of its body. */
function answered({ name }: Operation): { example?: object } {
  const example = answerExamples()[name];
  return example === undefined ? {} : { example };
}

function requestOf(operation: Operation, body: z.ZodType | undefined): NonNullable<RouteConfig['request']> {
  const { name, readsOwnBody: own } = operation;
  if (own) {
    const { contentType, description } = own;
    const text = { schema: { type: 'string' as const }, example: TEXT_EXAMPLES[name] };
    return { body: { required: true, description, content: { [contentType]: text } } };
  }
  if (!body) return {};
  const content = { 'application/json': bodyOf(operation, body), ...cloudEventsOf(operation) };
  return { body: { required: !operation.bodyOptional, content } };
}

/** The same events as CloudEvents. */
function cloudEventsOf({ name, cloudEvents }: Operation): Record<string, ZodMediaTypeObject> {
  if (!cloudEvents) return {};
  const type = cloudEvents.isList ? 'application/cloudevents-batch+json' : 'application/cloudevents+json';
  return { [type]: { schema: travelling(cloudEvents.body), example: CLOUD_EVENT_EXAMPLES[name] } };
}

/** A body with what its fields mean and one that is accepted. */
function bodyOf({ name, root }: Operation, body: z.ZodType): ZodMediaTypeObject {
  const words: FieldWords =
    root === undefined ? WORDS.body : { ...WORDS.body, [`${name}.${root}`]: 'Root of the body' };
  return { schema: described(travelling(body), words, [name]) as JsonSchema, example: BODY_EXAMPLES[name] };
}

const shown = ({ name, answer }: Operation): JsonSchema =>
  described(travelling(answer), WORDS.answer, [name]) as JsonSchema;

/** The errors of an operation with their codes, from the table that docs/errors.md shows too. */
function errorsOf(operation: Operation): RouteConfig['responses'] {
  const codes = errorCodesOf(operation);
  const statuses = Object.entries(REFUSALS).filter(([status]) => mayAnswer(operation, Number(status), codes));
  return Object.fromEntries(
    statuses.map(([status, [name, sentence]]) => {
      const names = codes.filter((each) => each.status === Number(status)).map(({ code }) => `\`${code}\``);
      if (operation.errorsAsOtlp) return [status, { description: sentence, content: OTLP_ERROR_CONTENT }];
      const isNamed = names.length > 0 && !WITHOUT_CODES.has(Number(status));
      if (!isNamed) return [status, { $ref: `#/components/responses/${name}` }];
      return [status, { description: `${sentence}: ${names.join(', ')}`, content: ERROR_CONTENT }];
    }),
  );
}

/** Bodies are refused where there is one, states and unfinished writes where something is written. */
function mayAnswer(operation: Operation, status: number, codes: readonly { status: number }[]): boolean {
  const { kind, path, body, readsOwnBody, query } = operation;
  const hasBody = body !== undefined || readsOwnBody !== undefined;
  if (OF_BODIES.has(status)) return hasBody;
  if (status === 405) return codes.some((each) => each.status === status);
  if (status === 504) return kind !== 'read';
  if (status === 404)
    return kind !== 'read' || hasBody || path.includes(':') || codes.some((each) => each.status === 404);
  return status !== 422 || kind !== 'read' || hasBody || query !== undefined || path.includes(':');
}

/** What an operation does, and what a caller needs: the permission of its key. */
function descriptionOf(operation: Operation): string {
  const { summary, description, query } = operation;
  const isList = query instanceof z.ZodObject && 'per_page' in query.shape;
  const pages = isList ? '20 records are on a page unless `per_page` says otherwise.' : '';
  return [`${summary}.`, description ?? '', pages, neededBy(operation), binaryOf(operation)].filter(Boolean).join(' ');
}

function neededBy({ permission, mode, method }: Operation): string {
  if (permission === null) return 'Any API key may call it.';
  const needed = mode ?? (method === 'get' ? 'read' : 'write');
  const resources = typeof permission === 'string' ? [permission] : permission;
  return `The API key needs ${resources.map((each) => `\`${each}:${needed}\``).join(' or ')}.`;
}

const binaryOf = ({ cloudEvents }: Operation): string =>
  cloudEvents?.isList === false ? 'A CloudEvent may be in binary mode: headers `ce-…`, the body its data.' : '';

type JsonSchema = Exclude<NonNullable<ZodMediaTypeObject['schema']>, z.ZodType>;

/**
 * JSON Schema of transmitted values, as OpenAPI 3.1 uses it, without running the zod schema, whose checks might refuse
 * any sample. A type without JSON Schema is shown as any value.
 */
function travelling(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...shape } = z.toJSONSchema(stripped(schema), {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  });
  return plain(shape) as JsonSchema;
}

/**
 * A schema without what only its making has put there: patterns that its format says already (a pattern of dates has
 * 280 characters), and bounds of whole numbers that JavaScript can count.
 */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { format } = schema as { format?: unknown };
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === 'pattern' && SAID_BY_FORMAT.has(format)) && UNBOUNDED[key] !== value)
      .map(([key, value]) => [key, plain(value)]),
  );
}

const SAID_BY_FORMAT = new Set<unknown>(['uuid', 'date-time', 'date', 'email']);
const UNBOUNDED: Readonly<Record<string, number>> = {
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};

function stripped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe && !(schema.in instanceof z.ZodTransform)) return stripped(schema.in as z.ZodType);
  if (schema instanceof z.ZodCatch) return stripped(schema.def.innerType as z.ZodType);
  return schema;
}
