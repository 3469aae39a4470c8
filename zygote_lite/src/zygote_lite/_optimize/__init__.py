"""The source transform: code for the argument types that were seen, with the rules inlined.

    lowered IR --normalize--> one exit --interpret--> typed code
               --backward--> adjoint --finish, write--> Python

A function is specialized for the types of its arguments, the arguments that are differentiated
and the table of rules. What cannot be specialized is recorded on a tape.
"""
