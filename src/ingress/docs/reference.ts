import { STATUS_CODES } from 'node:http';
import { type Html, html } from '../../platform/html.ts';
import {
  type Description,
  nameOfRef,
  type Parameter,
  type Route,
  resolved,
  routesOf,
  type Schema,
} from './description.ts';
import { anchorOfRecord, fieldList, meaningOf, recordLink, recordsIn, typeOf } from './fields.ts';
import { DOCS_PATH, pageOf, REFERENCE_PATH, type Site } from './frame.ts';
import { prose } from './prose.ts';
import { samplesOf } from './samples.ts';
import { groupedTags, titleOf } from './tags.ts';

/** The page of all operations: one line each, by group and tag. */
export function operationsPage(site: Site, description: Description): string {
  const routes = routesOf(description);
  const groups = groupedTags(site.tags);
  const body = html`<p class="lead">${String(routes.length)} operations. A request has the header <code>Authorization: Bearer $KEY</code>
and, where it writes, a JSON body under one root key. The whole description as OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>.</p>
${groups.map(
  ([group, tags]) =>
    html`<h2 id="${idOf(group)}">${group}</h2>${tags.map(
      (tag) => html`<h3><a href="${REFERENCE_PATH}/${tag}">${titleOf(tag)}</a></h3>
<ul class="routes">${routes.filter(({ operation }) => operation.tags[0] === tag).map((route) => lineOf(route, tag))}</ul>`,
    )}`,
)}`;
  const contents = groups.map(([group]) => [idOf(group), group] as const);
  return pageOf(site, { path: REFERENCE_PATH, title: 'API reference', contents, body });
}

const idOf = (group: string): string => group.toLowerCase();

const lineOf = ({ method, path, operation }: Route, tag: string): Html =>
  html`<li><a href="${REFERENCE_PATH}/${tag}#${operation.operationId}">${operation.summary}</a>
<code><span class="verb ${method}">${method.toUpperCase()}</span> ${path}</code></li>`;

/** The operations of a tag, each with its parameters, body, answer, errors and samples; undefined for no such tag. */
export function tagPage(site: Site, description: Description, tag: string): string | undefined {
  const routes = routesOf(description).filter(({ operation }) => operation.tags[0] === tag);
  if (routes.length === 0) return undefined;
  const names = recordsIn(description, routes.flatMap(schemasOf)).filter((name) => name !== 'Error');
  const envelopes = new Set(routes.flatMap(schemasOf).map(({ $ref }) => $ref && nameOfRef($ref)));
  const inPlace = new Set<string>();
  const sections = routes.map((route) => operationSection(route, { site, description, inPlace }));
  const records = names.filter((name) => !envelopes.has(name) && !inPlace.has(name));
  const body = html`<ul class="routes">${routes.map((route) => lineOf(route, tag))}</ul>
${sections}
${
  records.length === 0
    ? ''
    : html`<h2 id="records">Records</h2>${records.map((name) => recordSection(name, description.components.schemas[name]!))}`
}`;
  return pageOf(site, { path: `${REFERENCE_PATH}/${tag}`, title: titleOf(tag), body, isWide: true });
}

const schemasOf = ({ operation }: Route): Schema[] => [
  ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
  ...answerOf(operation).map(({ schema }) => schema),
];

const answerOf = ({ responses }: Route['operation']) => {
  const done = responses[200];
  return done && 'content' in done ? Object.values(done.content ?? {}) : [];
};

interface Place {
  site: Site;
  description: Description;
  /** Records that stand where a body of the page needs them first; the rest stands below. */
  inPlace: Set<string>;
}

function operationSection(route: Route, { site: { api }, description, inPlace }: Place): Html {
  const { method, path, operation } = route;
  const id = operation.operationId;
  const parameters = (operation.parameters ?? []).map((each) => resolved(description, 'parameters', each));
  const { curl, typescript, needsId } = samplesOf(
    api,
    route,
    parameters.filter(({ required }) => required),
  );
  const [answer] = answerOf(operation);
  return html`<section class="operation" aria-labelledby="${id}">
<h2 id="${id}"><a class="anchor" href="#${id}">${operation.summary}</a></h2>
<div class="words">
<p class="route"><code><span class="verb ${method}">${method.toUpperCase()}</span> ${path}</code></p>
<p>${prose(operation.description)}</p>
${parameterLists(parameters)}
${bodyOf(operation, { description, inPlace })}
${answer ? html`<h3>Answer</h3>${envelopeOf(description, answer.schema)}` : ''}
${errorsOf(description, operation)}
</div>
<div class="samples">
<figure><figcaption>curl</figcaption><pre tabindex="0" data-lang="sh"><code>${curl}</code></pre></figure>
${needsId ? html`<p class="values"><code>$ID</code>: an identifier that an earlier answer gave, its <code>svc_id</code>.</p>` : ''}
<details><summary>TypeScript</summary><pre tabindex="0" data-lang="ts"><code>${typescript}</code></pre></details>
${
  answer?.example === undefined
    ? ''
    : html`<figure><figcaption>Answer 200</figcaption><pre tabindex="0" data-lang="json"><code>${JSON.stringify(answer.example, null, 2)}</code></pre></figure>`
}
</div>
</section>`;
}

const PLACES = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers'],
] as const;

const parameterLists = (parameters: readonly Parameter[]): Html[] =>
  PLACES.map(([place, title]) => [title, parameters.filter((each) => each.in === place)] as const)
    .filter(([, all]) => all.length > 0)
    .map(([title, all]) => {
      const list = html`<ul class="fields">${all.map(
        ({ name, required, schema, description: meaning }) =>
          html`<li><code class="name">${name}</code> <span class="type">${typeOf(schema)}</span>${
            required ? html` <span class="must">required</span>` : ''
          }${meaningOf({ ...schema, ...(meaning === undefined ? {} : { description: meaning }) })}</li>`,
      )}</ul>`;
      return all.length > MANY || title === 'Headers'
        ? html`<details class="part"><summary>${title} (${String(all.length)})</summary>${list}</details>`
        : html`<h3>${title}</h3>${list}`;
    });

/** Parameters that are shown before they are folded. */
const MANY = 8;

function bodyOf(
  { requestBody }: Route['operation'],
  { description, inPlace }: Pick<Place, 'description' | 'inPlace'>,
): Html | undefined {
  if (!requestBody) return undefined;
  const [[type, { schema }] = ['', { schema: {} }], ...others] = Object.entries(requestBody.content);
  const also = others.map(([each]) => html`, or <code>${each}</code>`);
  return html`<h3>Body</h3>${
    type === 'application/json' && others.length === 0 ? '' : html`<p class="values"><code>${type}</code>${also}</p>`
  }${requestBody.description ? html`<p>${prose(requestBody.description)}</p>` : ''}${envelopeOf(description, schema, inPlace)}`;
}

/** The root of a body or an answer with its record; a body shows the fields of a record that no other has shown. */
function envelopeOf({ components: { schemas } }: Description, schema: Schema, inPlace?: Set<string>): Html {
  const at = (part: Schema): Schema => (part.$ref ? (schemas[nameOfRef(part.$ref)] ?? {}) : part);
  const whole = at(schema);
  const roots = Object.entries(whole.properties ?? {});
  if (roots.length !== 1) return fieldList(whole) ?? html`<p class="values">${typeOf(whole)}</p>${meaningOf(whole)}`;
  const [[root, below]] = roots as [[string, Schema]];
  const name = below.$ref && nameOfRef(below.$ref);
  const list = fieldList(at(below), inPlace ? FIELDS_SHOWN : undefined);
  const isNew = name !== undefined && inPlace !== undefined && !inPlace.has(name);
  if (isNew) inPlace.add(name);
  const type = name === undefined || isNew ? (name ?? typeOf(below)) : recordLink(name);
  const head = html`<p class="values"><code class="name">${root}</code> <span class="type">${type}</span></p>`;
  if (!list || (name !== undefined && !isNew)) return head;
  if (isNew) return html`<div id="${anchorOfRecord(name)}">${head}${list}</div>`;
  return html`${head}<details class="part"><summary>Fields</summary>${list}</details>`;
}

/** Fields of a body that are shown before the rest is folded. */
const FIELDS_SHOWN = 6;

const recordSection = (name: string, schema: Schema): Html => html`<section class="record">
<h3 id="${anchorOfRecord(name)}"><a class="anchor" href="#${anchorOfRecord(name)}">${name}</a></h3>
${schema.description ? html`<p>${prose(schema.description)}</p>` : ''}
${variantsOf(schema)}${fieldList(schema) ?? (schema.anyOf || schema.oneOf ? '' : html`<p class="values">${typeOf(schema)}</p>${meaningOf(schema)}`)}
</section>`;

/** The forms of a record that has several, such as the prices of each charge model. */
const variantsOf = ({ anyOf, oneOf }: Schema): Html[] =>
  (oneOf ?? anyOf ?? []).map(
    (each) =>
      html`${each.title ? html`<h4>${each.title}</h4>` : ''}${each.description ? html`<p>${prose(each.description)}</p>` : ''}${
        fieldList(each) ?? html`<p class="values">${typeOf(each)}</p>`
      }`,
  );

function errorsOf(description: Description, { responses }: Route['operation']): Html {
  const refusals = Object.entries(responses).filter(([status]) => /^[45]/.test(status));
  return html`<details class="part"><summary>Errors (${refusals.map(([status]) => status).join(', ')})</summary>
<ul class="fields">${refusals.map(([status, response]) => {
    const { description: words } = resolved(description, 'responses', response);
    // A list of codes at the end; other words in backticks belong to the sentence.
    const [, sentence, codes] = /^(.*): ((?:`[\w-]+`(?:, |$))+)$/.exec(words) ?? [];
    const named = [...(codes ?? '').matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
    return html`<li><code class="name">${status}</code> <span class="type">${STATUS_CODES[status]!}</span><p>${prose(
      named.length > 0 ? sentence! : words,
    )}</p>${
      named.length === 0
        ? ''
        : html`<p class="values">${named.map((code) => html`<a href="${DOCS_PATH}/errors#${code}"><code>${code}</code></a> `)}</p>`
    }</li>`;
  })}</ul></details>`;
}

/** What endpoints receive: every type with the record that it holds. */
export function eventTypesPage(site: Site, description: Description): string {
  const all = Object.entries(description.webhooks).filter(
    ([type]) => description.webhooks[type]!.post.operationId === `event.${type}`,
  );
  const body = html`<p class="lead">${String(all.length)} types. Each is posted to the endpoints that listen to it, signed:
<a href="${DOCS_PATH}/guide/webhooks-and-feed">how to verify and repeat</a>.</p>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Type</th><th scope="col">Sent when</th><th scope="col">Body under</th></tr></thead>
<tbody>${all.map(([type, { post }]) => {
    const { properties = {} } = post.requestBody!.content['application/json']!.schema;
    const [root] = Object.keys(properties).filter((name) => !ENVELOPE.has(name));
    return html`<tr id="${type}"><td><code>${type}</code></td><td>${prose(post.description)}</td><td><code>${root!}</code></td></tr>`;
  })}</tbody></table></div>`;
  return pageOf(site, { path: `${REFERENCE_PATH}/event_types`, title: 'Event types of webhooks', body });
}

const ENVELOPE = new Set(['webhook_type', 'object_type', 'organization_id']);
