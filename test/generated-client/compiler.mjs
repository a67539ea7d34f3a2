import common from '@ts-morph/common';

export default common.ts;
