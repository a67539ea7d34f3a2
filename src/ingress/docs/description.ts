/** The parts of the API description that pages show. */
export interface Description {
  info: { version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Described>>;
  webhooks: Record<string, { post: Described }>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    parameters: Record<string, Parameter>;
  };
}
export interface Described {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: (Parameter | Ref)[];
  requestBody?: { required?: boolean; description?: string; content: Record<string, Media> };
  responses: Record<string, Response | Ref>;
}
export interface Media {
  schema: Schema;
  example?: unknown;
}
export interface Response {
  description: string;
  content?: Record<string, Media>;
}
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
  required?: boolean;
  schema: Schema;
}
export interface Ref {
  $ref: string;
}
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  title?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: boolean | Schema;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  default?: unknown;
}

/** An operation with the route that leads to it. */
export interface Route {
  method: string;
  path: string;
  operation: Described;
}

export const routesOf = ({ paths }: Description): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );

export const nameOfRef = (reference: string): string => reference.split('/').at(-1)!;

/** What a reference names, or the value itself. */
export function resolved<Kind extends 'responses' | 'parameters'>(
  description: Description,
  kind: Kind,
  value: Description['components'][Kind][string] | Ref,
): Description['components'][Kind][string] {
  const parts = description.components[kind] as Record<string, Description['components'][Kind][string]>;
  return '$ref' in value ? parts[nameOfRef(value.$ref)]! : value;
}
