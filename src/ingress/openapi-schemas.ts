/** The parts of a document used here. */
export interface OpenApi {
  paths: Record<string, Record<string, OperationObject>>;
  components?: { schemas?: Record<string, unknown> };
}
interface OperationObject {
  operationId: string;
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}
/** Bodies of these types stand beside the one of our own. */
const CLOUD_EVENTS = 'application/cloudevents';
type Content = Record<string, { schema: unknown }>;

/**
 * The document with its bodies and answers as named components, each shape once. Inner references of JSON Schema
 * (`#/$defs/…`), which would lead nowhere in a document, become components too.
 */
export function withSharedSchemas(document: OpenApi): OpenApi {
  const schemas: Record<string, unknown> = { ...document.components?.schemas };
  const nameOf = new Map<string, string>();
  const shared = (name: string, schema: unknown) => {
    const text = JSON.stringify(schema);
    const known = nameOf.get(text);
    if (known === undefined) {
      nameOf.set(text, name);
      schemas[name] = schema;
    }
    return { $ref: `#/components/schemas/${known ?? name}` };
  };
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const name = operation.operationId[0]!.toUpperCase() + operation.operationId.slice(1);
    for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
      const input = type.startsWith(CLOUD_EVENTS) ? `${name}CloudInput` : `${name}Input`;
      media.schema = shared(input, hoisted(media.schema, `${input}Part`, schemas));
    }
    // Refusals refer to a component already.
    for (const media of Object.values(operation.responses[200]?.content ?? {}))
      media.schema = shared(`${name}Answer`, hoisted(media.schema, `${name}AnswerPart`, schemas));
  }
  return { ...document, components: { ...document.components, schemas } };
}

/**
 * Schemas of records by the root under which an answer shows one: of the operation that retrieves it, else of the first
 * that answers it.
 */
export function recordsOf({ paths, components }: OpenApi): (root: string) => object | undefined {
  const answers = Object.values(paths)
    .flatMap((methods) => Object.entries(methods))
    .sort(([a], [b]) => Number(a !== 'get') - Number(b !== 'get'))
    .flatMap(([, { responses }]) => Object.values(responses[200]?.content ?? {}))
    .map(({ schema }) => (schema as { $ref?: string }).$ref?.split('/').at(-1) ?? '');
  return (root) => {
    const of = (name: string) => (components?.schemas?.[name] as { properties?: Record<string, object> })?.properties;
    const name = answers.find((each) => of(each)?.[root] !== undefined);
    return name === undefined ? undefined : of(name)![root];
  };
}

const INNER = '#/$defs/';

/** A schema whose definitions are moved to their name, or to `prefix` and their number. */
function hoisted(schema: unknown, prefix: string, schemas: Record<string, unknown>): unknown {
  const { $defs, ...rest } = schema as { $defs?: Record<string, unknown> };
  if (!$defs) return schema;
  const nameOf = (name: string, index: number) => (name.startsWith('__') ? `${prefix}${index + 1}` : name);
  const names = new Map(Object.keys($defs).map((name, index) => [`${INNER}${name}`, nameOf(name, index)]));
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const name = key === '$ref' ? names.get(String(inner)) : undefined;
        return [key, name === undefined ? renamed(inner) : `#/components/schemas/${name}`];
      }),
    );
  };
  for (const [name, definition] of Object.entries($defs)) schemas[names.get(`${INNER}${name}`)!] = renamed(definition);
  return renamed(rest);
}
