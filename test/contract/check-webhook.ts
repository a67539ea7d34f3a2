import { readFileSync } from 'node:fs';

/** The part of JSON Schema that the contract's webhooks use. */
interface Shape {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  required?: string[];
  properties?: Record<string, Shape>;
  additionalProperties?: boolean | Shape;
  items?: Shape;
  anyOf?: Shape[];
  allOf?: Shape[];
}

interface Shapes {
  /** Of the whole body, by webhook type. */
  types: Record<string, Shape>;
  /** What `$ref` names. */
  schemas: Record<string, Shape>;
}

const shapes: Shapes = JSON.parse(readFileSync(new URL('./webhook-shapes.json', import.meta.url), 'utf8'));

export const CONTRACT_TYPES: readonly string[] = Object.keys(shapes.types);

/**
 * Where a webhook's body departs from the contract: `path: what`. Types that the contract does not know have no shape.
 */
export function violationsOf(body: { webhook_type: string }): string[] {
  const shape = shapes.types[body.webhook_type];
  return shape ? check(shape, body, body.webhook_type) : [];
}

function check(shape: Shape, value: unknown, at: string): string[] {
  if (shape.$ref !== undefined) return check(shapes.schemas[shape.$ref]!, value, at);
  if (shape.anyOf) {
    const found = shape.anyOf.map((each) => check(each, value, at));
    if (!found.some((each) => each.length === 0)) return found.sort((a, b) => a.length - b.length).at(-1)!;
  }
  const parts = (shape.allOf ?? []).flatMap((each) => check(each, value, at));
  const types = shape.type === undefined ? [] : [shape.type].flat();
  if (types.length > 0 && !types.some((type) => isOf(type, value)))
    return [...parts, `${at}: ${JSON.stringify(value)?.slice(0, 60)} is not ${types.join(' or ')}`];
  if (shape.enum && !shape.enum.includes(value))
    return [...parts, `${at}: ${JSON.stringify(value)} is not in the enum`];
  if (typeof value === 'string') return [...parts, ...checkText(shape, value, at)];
  if (Array.isArray(value))
    return [
      ...parts,
      ...value.flatMap((each, index) => (shape.items ? check(shape.items, each, `${at}[${index}]`) : [])),
    ];
  if (typeof value === 'object' && value !== null) return [...parts, ...checkObject(shape, value, at)];
  return parts;
}

function checkObject(shape: Shape, value: object, at: string): string[] {
  const missing = (shape.required ?? []).filter((name) => !(name in value)).map((name) => `${at}: misses ${name}`);
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    const own = shape.properties?.[name] ?? shape.additionalProperties;
    return typeof own === 'object' ? check(own, inner, `${at}.${name}`) : [];
  });
  return [...missing, ...fields];
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  email: /^[^@\s]+@[^@\s]+$/,
};

function checkText(shape: Shape, value: string, at: string): string[] {
  const format = shape.format === undefined ? undefined : FORMATS[shape.format];
  if (format && !format.test(value)) return [`${at}: "${value.slice(0, 60)}" is no ${shape.format}`];
  if (shape.pattern !== undefined && !new RegExp(shape.pattern).test(value))
    return [`${at}: "${value.slice(0, 60)}" does not match ${shape.pattern}`];
  return shape.maxLength !== undefined && value.length > shape.maxLength
    ? [`${at}: longer than ${shape.maxLength}`]
    : [];
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
