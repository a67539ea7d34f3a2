import { type Html, html } from '../../platform/html.ts';
import { type Description, nameOfRef, type Schema } from './description.ts';
import { prose } from './prose.ts';

/** Values of a list that are shown before the rest is counted. */
const VALUES_SHOWN = 12;

/** A link to a record that stands on the same page. */
export const recordLink = (name: string): Html => html`<a href="#${anchorOfRecord(name)}">${name}</a>`;
export const anchorOfRecord = (name: string): string => `record-${name}`;

/**
 * Fields of an object with type, bounds and meaning, those that must be sent first; undefined where it names none.
 *
 * shown  fields before the rest is folded
 */
export function fieldList(schema: Schema, shown = Number.POSITIVE_INFINITY): Html | undefined {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return undefined;
  const ordered = fields.sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  const list = (some: typeof fields) =>
    html`<ul class="fields">${some.map(
      ([name, field]) =>
        html`<li><code class="name">${name}</code> <span class="type">${typeOf(field)}</span>${
          required.has(name) ? html` <span class="must">required</span>` : ''
        }${meaningOf(field)}${innerOf(field)}</li>`,
    )}</ul>`;
  const most = Math.max(shown, required.size);
  const rest = ordered.slice(most + 1).length > 0 ? ordered.slice(most) : [];
  const more =
    rest.length > 0 &&
    html`<details class="part"><summary>${String(rest.length)} more</summary>${list(rest)}</details>`;
  return html`${list(rest.length > 0 ? ordered.slice(0, most) : ordered)}${more}`;
}

/** What the schema of a field says beside its type. */
export function meaningOf(schema: Schema): Html {
  const said = [schema, ...optionsOf(schema)].map(({ description }) => description).find(Boolean);
  const values = valuesOf(schema);
  const bounds = boundsOf(schema);
  return html`${said === undefined ? '' : html`<p>${prose(said)}</p>`}${
    values.length === 0
      ? ''
      : html`<p class="values">${values.slice(0, VALUES_SHOWN).map((value) => html`<code>${String(value)}</code> `)}${
          values.length > VALUES_SHOWN ? `and ${values.length - VALUES_SHOWN} more` : ''
        }</p>`
  }${bounds === '' ? '' : html`<p class="values">${bounds}</p>`}`;
}

/** The fields of objects that have no name, folded. */
function innerOf(schema: Schema): Html | undefined {
  const inner = [schema, ...optionsOf(schema)].map((each) => each.items ?? each).find(({ properties }) => properties);
  const fields = inner && fieldList(inner);
  return fields && html`<details><summary>Fields</summary>${fields}</details>`;
}

/** The type in words, with links to named records. */
export function typeOf(schema: Schema): Html | string {
  if (schema.$ref !== undefined) return recordLink(nameOfRef(schema.$ref));
  const options = optionsOf(schema);
  if (options.length > 0) {
    const isNullable = options.some(({ type }) => type === 'null');
    const rest = options.filter(({ type }) => type !== 'null');
    const words = rest.map((each, index) => html`${index > 0 ? ' or ' : ''}${typeOf(each)}`);
    return html`${words}${isNullable ? ' or null' : ''}`;
  }
  if (schema.const !== undefined) return html`<code>${String(schema.const)}</code>`;
  const types = [schema.type ?? []].flat();
  const isNullable = types.includes('null');
  const [type] = types.filter((each) => each !== 'null');
  const word = type === 'array' ? html`list of ${typeOf(schema.items ?? {})}` : (WORDS[type ?? ''] ?? 'any value');
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return html`${word}${format}${isNullable ? ' or null' : ''}`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
  null: 'null',
};

const optionsOf = ({ anyOf, oneOf, allOf }: Schema): Schema[] => anyOf ?? oneOf ?? allOf ?? [];

const valuesOf = (schema: Schema): unknown[] =>
  [schema, ...optionsOf(schema), schema.items ?? {}].flatMap((each) => each.enum ?? []);

function boundsOf(schema: Schema): string {
  const { minimum, maximum, maxLength, minItems, maxItems } = { ...optionsOf(schema)[0], ...schema };
  return [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    minItems === undefined ? '' : `at least ${minItems} in the list`,
    maxItems === undefined ? '' : `at most ${maxItems} in the list`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Names of the records that a schema mentions, and those that these mention. */
export function recordsIn(description: Description, schemas: readonly Schema[]): string[] {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as Schema;
    if (typeof $ref === 'string') {
      const name = nameOfRef($ref);
      if (found.has(name)) return;
      found.add(name);
      look(description.components.schemas[name]);
    } else for (const inner of Object.values(value)) look(inner);
  };
  for (const schema of schemas) look(schema);
  return [...found].sort();
}
