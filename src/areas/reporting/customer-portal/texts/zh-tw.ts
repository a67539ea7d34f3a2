import type { PortalTexts } from './portal-texts.ts';

export const zhTw: PortalTexts = {
  title: '帳務',
  balance: '餘額',
  due: '應付',
  overdue: '逾期',
  subscriptions: '訂閱',
  states: {
    active: '使用中',
    pending: '尚未開始',
    incomplete: '等待付款',
    terminated: '已結束',
  },
  nextBilling: '下次計費日 {date}',
  startsOn: '開始日 {date}',
  endsOn: '結束日 {date}',
  endedOn: '已於 {date} 結束',
  usage: '目前用量',
  usageUnknown: '目前無法顯示用量。',
  credits: '{credits} 點',
  afterUsage: '扣除目前用量後 {amount}',
  expiresOn: '到期日 {date}',
  invoices: '發票',
  receipts: '付款收據',
  payment: {
    paid: '已付款',
    settled: '已結清',
    underWay: '付款處理中',
    partlyPaid: '部分付款',
    overdue: '逾期',
    failed: '付款失敗',
    open: '未付款',
  },
  pay: '付款',
  download: '下載 PDF',
  left: '剩餘 {amount}',
  nothing: '目前沒有資料。',
  newer: '較新',
  older: '較舊',
  back: '回到總覽',
  notices: {
    preparing: {
      title: '文件準備中',
      text: '本頁將在數秒後自動載入。',
    },
    unauthorized: {
      title: '此連結已失效',
      text: '請向您的服務商索取新的連結。',
    },
    notFound: {
      title: '找不到此頁面',
      text: '您要找的內容不在這裡。',
    },
    tooMany: {
      title: '請求過多',
      text: '請稍候再重新載入。',
    },
    failed: {
      title: '發生錯誤',
      text: '請於幾分鐘後再試。',
    },
  },
};
