import { readFileSync } from 'node:fs';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { logNotifications } from '../support/exchange-log.ts';

// Adds to the log of a run what the service told that `npm start` has running: CONTRACT_LOG=FOLDER tsx
// log-notifications.ts
const { databaseUrl } = JSON.parse(readFileSync('.data/run.json', 'utf8')) as { databaseUrl: string };
const sql = connectDatabase(databaseUrl, { connections: 1 });
await logNotifications(sql);
await sql.end();
