import { type Html, html } from '../../platform/html.ts';

/** A sentence of the API description: what stands in backticks is code, everything else text. */
export const prose = (text: string): Html =>
  html`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
