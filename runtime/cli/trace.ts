export { swfLines } from '../queue/swf';
