import { relative } from 'node:path';
import type { Demo } from './prepare-database.ts';
import type { Addresses } from './service-address.ts';

interface Facts {
  addresses: Addresses;
  demo: Demo;
  dataDir: string;
  seconds: string;
}

/** What a person needs to begin: addresses, the key, and a line to paste. */
export function announce({ addresses, demo, dataDir, seconds }: Facts): string {
  const customer = JSON.stringify({ customer: { external_id: 'my-first-customer', name: 'My first customer' } });
  const folder = relative(process.cwd(), dataDir) || dataDir;
  return `
Meterstone is up (${seconds} s)

  API         ${addresses.api}
  API key     ${demo.apiKey}   (sandbox organization "${demo.name}")
  Docs        ${addresses.docs}
  Queues      ${addresses.queues}
  Data, logs  ${folder}/

Try it:

curl -sS -X POST ${addresses.api}/customers -H 'Authorization: Bearer ${demo.apiKey}' -H 'Content-Type: application/json' -d '${customer}'

Ctrl-C stops everything; the data stays.
`;
}
