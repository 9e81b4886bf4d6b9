// expect: js-socket
import axios from "axios";
const { data } = await axios.get<string>("https://example.com");
export default data;
