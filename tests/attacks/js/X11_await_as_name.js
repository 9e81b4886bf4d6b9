/* expect: status=ok value="called" */
/* The attacker wants the wrapper to change what the program means, by a function that is called await. */
var await = () => "called";
var answer = await(1);
answer;
