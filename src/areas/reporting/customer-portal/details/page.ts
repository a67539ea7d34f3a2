import { COUNTRIES } from '../../../../engine/places/countries.ts';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { type CustomerRow, readCustomer } from '../../../customers/customers/queries.ts';
import { type Frame, formOf, framed, may, ownNameOf } from '../frame.ts';
import { button, factsOf, headOf } from '../parts.ts';
import { PORTAL_LOCALES } from '../texts/by-locale.ts';
import type { FaultName } from '../texts/portal-texts.ts';
import { DETAIL_FIELDS, type DetailField, labelOf } from './fields.ts';

/** Billing data as they were sent, with what is wrong with them. */
export interface DetailsTry {
  values: Readonly<Record<string, string>>;
  faults: Readonly<Record<string, FaultName>>;
}

/** Billing data as documents print it, the form to change what may be changed, and the language. One statement. */
export async function detailsPage(
  ctx: Context,
  frame: Frame,
  { said, tried }: { said?: Html; tried?: DetailsTry },
): Promise<string> {
  const customer = await readCustomer(ctx, frame.customer.id);
  const { words } = frame.language;
  const allowed = may(frame, 'billing_data')
    ? DETAIL_FIELDS.filter(({ of }) => frame.settings.billing_data_fields.includes(of))
    : [];
  const { metadata } = frame.customer;
  return framed(
    frame,
    words.details,
    html`${headOf(frame, words.details)}
${said}<div class="card alone">${printedOf(frame, customer)}</div>
${metadata.length > 0 && html`<h2>${words.more}</h2><div class="card alone">${factsOf(metadata.map(({ key, value }) => [key, value] as const))}</div>`}
${allowed.length > 0 && html`<h2>${words.changeDetails}</h2><div class="card alone">${formFor(frame, customer, allowed, tried)}</div>`}
${frame.mayAct && languageForm(frame)}`,
  );
}

/** The block of an address on a document. */
function printedOf(frame: Frame, customer: CustomerRow): Html {
  const { words, documents } = frame.language;
  const person = [customer.firstname, customer.lastname].filter(Boolean).join(' ');
  const country = customer.country && frame.formatOf('USD').country(customer.country);
  const place = [customer.zipcode, customer.city].filter(Boolean).join(' ');
  const lines = [
    customer.legal_name || customer.name || person || customer.external_id,
    customer.address_line1,
    customer.address_line2,
    place,
    customer.state,
    country,
  ].filter(Boolean) as string[];
  return factsOf([
    [documents.payer, html`${lines.map((line) => html`${line}<br>`)}`],
    [words.fields.email, customer.email && html`${customer.email.split(',').map((address) => html`${address}<br>`)}`],
    [words.fields.phone, customer.phone],
    [documents.vatNumber, customer.tax_identification_number],
  ]);
}

function formFor(
  frame: Frame,
  customer: CustomerRow,
  allowed: readonly DetailField[],
  tried: DetailsTry | undefined,
): Html {
  const { words } = frame.language;
  return formOf(
    frame,
    'details',
    html`<div class="fields">${allowed.map((field) => inputOf(frame, field, tried?.values[field.name] ?? String(customer[field.name] ?? ''), tried?.faults[field.name]))}</div>
<div class="deeds">${button(words.save)}</div>`,
  );
}

function inputOf(frame: Frame, { name, autocomplete }: DetailField, value: string, fault: FaultName | undefined): Html {
  const { language } = frame;
  const id = `fault-${name}`;
  const marks = html`${fault && { html: ` aria-invalid="true" aria-describedby="${id}"` }}`;
  const input =
    name === 'country'
      ? html`<select name="country" autocomplete="${autocomplete}"${marks}><option value=""></option>${countriesOf(
          frame,
        ).map(
          ([code, country]) =>
            html`<option value="${code}"${code === value && { html: ' selected' }}>${country}</option>`,
        )}</select>`
      : html`<input name="${name}" autocomplete="${autocomplete}" maxlength="255" value="${value}"${marks}>`;
  return html`<div><label>${labelOf(language, name)}${input}</label>${fault && html`<p class="fault" id="${id}">${language.words.faults[fault]}</p>`}</div>
`;
}

function countriesOf({ formatOf, language }: Frame): [string, string][] {
  const { country } = formatOf('USD');
  return [...COUNTRIES]
    .map((code): [string, string] => [code, country(code)])
    .sort(([, a], [, b]) => a.localeCompare(b, language.locale));
}

function languageForm(frame: Frame): Html {
  const { words, locale } = frame.language;
  return html`<h2>${words.language}</h2><div class="card alone">${formOf(
    frame,
    'language',
    html`<div class="fields"><label>${words.languageHint}<select name="locale">${PORTAL_LOCALES.map((each) => html`<option value="${each}" lang="${each}"${each === locale && { html: ' selected' }}>${ownNameOf(each)}</option>`)}</select></label></div>
<div class="deeds">${button(words.useLanguage, { style: 'second' })}</div>`,
  )}</div>`;
}
