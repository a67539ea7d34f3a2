import {
  extendZodWithOpenApi,
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type RouteConfig,
  type ZodMediaTypeObject,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import type { Operation } from '../platform/operation.ts';

extendZodWithOpenApi(z);

const ErrorBody = z.object({
  status: z.int(),
  error: z.string(),
  code: z.string().optional(),
  resource: z.string().optional(),
  error_details: z.record(z.string(), z.unknown()).optional(),
});

const ERRORS: Record<number, string> = {
  400: 'Malformed body, or the root key is missing',
  401: 'No valid API key',
  403: 'The key lacks the permission',
  404: 'Not found',
  405: 'The state forbids it',
  422: 'The input is not valid',
  429: 'Too many requests in this second',
};

/**
 * The OpenAPI document of all operations, made from the same table that mounts them: what an API key can call. Routes of the
 * operator, who has a token of another kind, are told in the README.
 */
export function openApiDocument(operations: readonly Operation[], facts: { url: string; version: string }): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  for (const operation of operations) if (!operation.hidden) registry.registerPath(routeOf(operation));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Meterstone',
      version: facts.version,
      description: 'Usage-based billing: meters events, prices usage, issues invoices.',
    },
    servers: [{ url: facts.url }],
    security: [{ bearer: [] }],
  });
}

function routeOf(operation: Operation): RouteConfig {
  const names = [...operation.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
  const params = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  const content =
    operation.body && (operation.root === undefined ? operation.body : z.object({ [operation.root]: operation.body }));
  const body = operation.documentedBody ?? content;
  const query =
    operation.query instanceof z.ZodObject
      ? z.object(Object.fromEntries(Object.keys(operation.query.shape).map((name) => [name, z.string().optional()])))
      : undefined;
  return {
    method: operation.method,
    path: operation.path.replace(/:(\w+)/g, '{$1}'),
    operationId: operation.name,
    summary: operation.summary,
    tags: [operation.tag],
    request: {
      ...(names.length > 0 ? { params } : {}),
      ...(query ? { query } : {}),
      ...(body
        ? { body: { required: !operation.bodyOptional, content: { 'application/json': { schema: travelling(body) } } } }
        : {}),
    },
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: travelling(operation.answer) } } },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: ErrorBody } } },
        ]),
      ),
    },
  };
}

type JsonSchema = Exclude<NonNullable<ZodMediaTypeObject['schema']>, z.ZodType>;

/**
 * JSON Schema (OpenAPI 3.1 takes it as it is) of what travels, without running the schema: checks and rewritings of
 * ours may refuse whatever they are tried with. What has no JSON Schema is shown as any value.
 */
function travelling(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...shape } = z.toJSONSchema(stripped(schema), {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  });
  return shape as JsonSchema;
}

function stripped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe && !(schema.in instanceof z.ZodTransform)) return stripped(schema.in as z.ZodType);
  if (schema instanceof z.ZodCatch) return stripped(schema.def.innerType as z.ZodType);
  return schema;
}
