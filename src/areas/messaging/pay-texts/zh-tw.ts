import type { PayTexts } from './pay-texts.ts';

export const zhTw: PayTexts = {
  payAmount: '支付 {amount}',
  payHereUntil: '在此支付此帳單（連結有效至 {date}）',
  more: '及其他 {count} 份',
  paid: { title: '已付款，謝謝您', text: '我們已收到您的款項。' },
  processing: { title: '您的付款正在處理中', text: '您不需要再做任何事。款項入帳後即會確認。' },
  expectedOn: '預計 {date} 入帳',
  confirm: { title: '請確認您的付款', text: '您的銀行請您確認這筆付款。', button: '確認付款' },
  voided: { title: '此帳單已作廢', text: '沒有需要支付的款項。' },
  nothingDue: { title: '沒有需要支付的款項', text: '已無任何應付金額。' },
  transfer: { title: '以銀行轉帳付款', text: '請將款項轉入此帳戶，並註明付款參考編號。', holder: '戶名' },
  ask: '請向 {issuer} 詢問付款方式。',
  opening: { title: '請稍候', text: '正在前往付款頁面。', link: '前往付款頁面' },
  tryAgain: { title: '目前無法開啟付款頁面', text: '尚未扣款。請於一分鐘後再試。', button: '再試一次' },
  expired: { title: '此連結已過期', text: '請向帳單寄件人索取新的連結。' },
  mail: {
    refused: '無法從您的付款方式扣款。',
    payHere: '請在此付款（連結有效 {days} 天）：',
    onPage: '帳單可在該頁面開啟。',
    view: '檢視帳單',
    worksFor: '連結有效 {days} 天。',
  },
};
