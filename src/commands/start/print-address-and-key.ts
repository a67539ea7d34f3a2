import { relative } from 'node:path';
import type { Demo } from './prepare-database.ts';
import type { Addresses } from './service-address.ts';

interface Facts {
  addresses: Addresses;
  /** Undefined in a database with organizations that npm start did not create. */
  demo: Demo | undefined;
  dataDir: string;
  seconds: string;
}

/** The start message: addresses, and the key with a line to paste, or where keys come from. */
export function announce({ addresses, demo, dataDir, seconds }: Facts): string {
  const folder = relative(process.cwd(), dataDir) || dataDir;
  const key = demo
    ? `${demo.apiKey}   (sandbox organization "${demo.name}")`
    : 'none made: this database has organizations of its own (npm run org -- list, create)';
  return `
Meterstone is up (${seconds} s)

  API         ${addresses.api}
  API key     ${key}
${consoleLine(addresses, demo)}  Docs        ${addresses.docs}
  Queues      ${addresses.queues}
  Data, logs  ${folder}/
${demo ? firstRequest(addresses, demo) : ''}
Ctrl-C stops everything; the data stays.
`;
}

function consoleLine({ root }: Addresses, demo: Demo | undefined): string {
  if (demo?.consolePath === undefined) return '';
  return `  Console     ${root}${demo.consolePath}   (signs in once, within 10 minutes)\n`;
}

function firstRequest(addresses: Addresses, demo: Demo): string {
  const customer = JSON.stringify({ customer: { external_id: 'my-first-customer', name: 'My first customer' } });
  return `
Try it:

curl -sS -X POST ${addresses.api}/customers -H 'Authorization: Bearer ${demo.apiKey}' -H 'Content-Type: application/json' -d '${customer}'
`;
}
