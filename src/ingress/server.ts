import { loadConfig } from '../platform/config.ts';
import { createLog } from '../platform/log/log.ts';
import { stopOnSignal } from '../platform/process/stop.ts';
import { operations } from '../resources/operations.ts';
import { startIngress } from './start-ingress.ts';

const config = loadConfig();
const log = createLog({ level: config.LOG_LEVEL, process: 'ingress' });
const ingress = await startIngress(config, operations, log);
log.info({ url: ingress.url }, 'ingress listening');
process.send?.('ready');
stopOnSignal(log, () => ingress.close());
