import { once } from 'node:events';
import { bringServices } from '../../../src/platform/services/discover.ts';

const [dataDir, mode] = process.argv.slice(2);
const services = await bringServices({ dataDir, throwaway: mode === 'throwaway' });
const { databaseUrl, redisUrl, pids } = services;
console.log(JSON.stringify({ databaseUrl, redisUrl, pids }));
process.stdin.resume();
await once(process.stdin, 'end');
await services.stop();
