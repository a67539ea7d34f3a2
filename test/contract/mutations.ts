import { hash } from 'node:crypto';

/** A JSON Schema, as far as fields are looked up in it. */
export interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

export type Path = readonly string[];

export interface Mutation {
  path: Path;
  text: string;
  /** A field of one text, number or boolean got an object or a list. */
  isMistyped: boolean;
  /** A field of any text got one more word. */
  isWord: boolean;
  /** A field got a text that is nothing but a text. */
  isPlain: boolean;
  /** A field got a date, which comes after the plain text. */
  isDate: boolean;
  /** A field got a text that a database may refuse, or one that tells how its dates are taken. */
  isTelling: boolean;
  /** A field got another word of its list, which may want other fields than the body has. */
  isOtherWord: boolean;
  /** As many elements as a body holds. */
  isMany: boolean;
  /** What went wrong with which field of which part of a body: alike in operations that share the part. */
  sign: string;
}

/** Hexadecimal text that no index of a database compresses into its pages. */
export const random = (characters: number): string =>
  Array.from({ length: Math.ceil(characters / 64) }, (_, n) => hash('sha256', `text ${n}`))
    .join('')
    .slice(0, characters);

const LONG = random(4096);
/** A decimal of more digits than Postgres has. */
const DIGITS = `0.${'7'.repeat(17_000)}`;
/** Years that some calendar or column has not. */
export const YEARS = ['-000001-01-01T00:00:00Z', '0000-01-01', '9999-12-31T23:59:59Z', '+275760-09-13T00:00:00Z'];
/** Elements that a body holds at all, and that fill it. */
const MANY = [45_000, Number.POSITIVE_INFINITY] as const;
const ORDINARY_BODY_BYTES = 1024 * 1024;
/** What a body that is as large as it may be leaves free: a body of a byte too many would be refused unread. */
const BODY_SPARE_BYTES = 8192;
const SIGN_CHARACTERS = 40;
const PLAIN = 'nobody-knows';
const DATES: ReadonlySet<unknown> = new Set(['2026-02-28', ...YEARS]);
const WORDS: ReadonlySet<unknown> = new Set([
  true,
  -1,
  1.5,
  9007199254740993n,
  '1e400',
  '9007199254740993',
  '2026-02-30',
  'not-a-date',
]);
const TELLING: ReadonlySet<unknown> = new Set([PLAIN, LONG, DIGITS, 'a\0b', 'a\ud800b']);
const ODD_VALUES: readonly unknown[] = [
  ...WORDS,
  null,
  {},
  { odd: [1] },
  [],
  [null],
  [[[1]], { odd: {} }],
  0,
  '',
  ' \t',
  PLAIN,
  ...DATES,
  LONG,
  DIGITS,
  'a\0b',
  'a\ud800b',
  // Beyond a double; JSON.stringify cannot write it.
  Symbol('1e400'),
  Symbol(DIGITS),
];
/** A longer list of words is one of a kind: each of its words is taken like the others. */
const WORDS_MAX = 20;
/** Stands in a body for what is too long to be written again and again. */
const PLACE = 'place of many elements';

/** Texts of a body of at most `bodyBytes`, each with one field gone wrong. */
export function* mutationsOf(
  schema: JsonSchema,
  body: unknown,
  bodyBytes: number = ORDINARY_BODY_BYTES,
): Generator<Mutation> {
  for (const field of fieldsOf(schema, body)) {
    const { path, kinds } = field;
    const isText = kinds.size > 0 && [...kinds].every((kind) => kind === 'string' || kind === 'null');
    const isScalar = kinds.size > 0 && !kinds.has('object') && !kinds.has('array') && !kinds.has('any');
    const value = path.reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], body);
    const place = path.slice(-3).join('.');
    const others = otherWords(field, value);
    for (const odd of [...ODD_VALUES, ...others]) {
      yield {
        path,
        text: writeJson(withValue(body, path, odd)),
        isMistyped: isScalar && typeof odd === 'object' && odd !== null,
        isWord: isText && WORDS.has(odd),
        isPlain: odd === PLAIN,
        isDate: DATES.has(odd),
        isTelling: TELLING.has(odd),
        isOtherWord: others.includes(odd),
        isMany: false,
        sign: `${place} ${writeJson(odd).slice(0, SIGN_CHARACTERS)}`,
      };
    }
    if (isScalar) continue;
    const whole = writeJson(withValue(body, path, PLACE));
    for (const element of ['1', '{}', ...(Array.isArray(value) ? [writeJson(value[0] ?? null)] : [])]) {
      const room = Math.floor((bodyBytes - BODY_SPARE_BYTES - whole.length) / (element.length + 1));
      for (const most of room > MANY[0] ? MANY : [MANY[0]]) {
        const times = Math.min(most, room);
        yield {
          path,
          text: whole.replace(`"${PLACE}"`, () => `[${`${element},`.repeat(times - 1)}${element}]`),
          isMistyped: false,
          isWord: false,
          isPlain: false,
          isDate: false,
          isTelling: false,
          isOtherWord: false,
          isMany: true,
          sign: `${place} ${most} ${element.slice(0, SIGN_CHARACTERS)}`,
        };
      }
    }
  }
}

/** JSON text of a value; bigints and symbols as the numbers they stand for. */
function writeJson(value: unknown): string {
  const literal = (inner: unknown) =>
    typeof inner === 'bigint' ? `#${inner}` : typeof inner === 'symbol' ? `#${inner.description}` : inner;
  return JSON.stringify(value, (_, inner) => literal(inner)).replaceAll(/"#([\de]+)"/g, '$1');
}

interface Field {
  path: Path;
  /** JSON types that its schema takes: `any` without a type, `enum` of a list of words. */
  kinds: Set<string>;
  /** Words of its list. */
  words: Set<unknown>;
}

/** Every field that a body or its schema knows, root keys included; a list stands for itself and its first element. */
export function fieldsOf(schema: JsonSchema, body: unknown): Field[] {
  const found = new Map<string, Field>();
  const walk = (part: JsonSchema | undefined, value: unknown, path: Path) => {
    if (path.length > 0) {
      const field = found.get(path.join('.')) ?? { path, kinds: new Set(), words: new Set() };
      found.set(path.join('.'), field);
      if (!part?.anyOf) for (const kind of kindsOf(part)) field.kinds.add(kind);
      for (const word of part?.enum ?? []) field.words.add(word);
    }
    for (const option of part?.anyOf ?? []) walk(option, value, path);
    const object = isObject(value) ? value : {};
    for (const name of new Set([...Object.keys(part?.properties ?? {}), ...Object.keys(object)]))
      walk(part?.properties?.[name], object[name], [...path, name]);
    if (part?.items || (Array.isArray(value) && value.length > 0))
      walk(part?.items, Array.isArray(value) ? value[0] : undefined, [...path, '0']);
  };
  walk(schema, body, []);
  return [...found.values()];
}

const kindsOf = (part: JsonSchema | undefined): string[] =>
  part?.enum ? ['enum'] : part?.type === undefined ? ['any'] : [part.type].flat();

/** The body with another value at a path; what is missing on the way is made. */
function withValue(body: unknown, [name, ...rest]: Path, value: unknown): unknown {
  if (name === undefined) return value;
  if (name === '0') {
    const list = Array.isArray(body) ? body : [];
    return [withValue(list[0], rest, value), ...list.slice(1)];
  }
  const object = isObject(body) ? body : {};
  return { ...object, [name]: withValue(object[name], rest, value) };
}

/** The other words of a list that is no long one, such as that of currencies. */
const otherWords = ({ words }: Field, value: unknown): unknown[] =>
  words.size > WORDS_MAX ? [] : [...words].filter((word) => word !== value);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
